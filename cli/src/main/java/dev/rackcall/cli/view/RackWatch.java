package dev.rackcall.cli.view;

import dev.rackcall.cli.view.RackReport.RackServer;
import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.Directory;
import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.Endpoint;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Asks a directory for the servers of a rack every few seconds, with a thread of its own: a store that does not answer
 * must not stop the numbers of this host. Any thread may ask for the report.
 */
final class RackWatch implements AutoCloseable {
    static final int MOST_SERVERS = 500;

    private static final Duration PAUSE = Duration.ofSeconds(2);
    private static final Duration END = Duration.ofSeconds(10);
    private static final Comparator<RackServer> ORDER = Comparator.comparing(RackServer::host)
            .thenComparing(RackServer::channel)
            .thenComparing(RackServer::id);

    private final Directory directory;
    private final Supplier<List<RackServer>> servers;
    private final Thread thread;
    private volatile RackReport report;
    private volatile long askedNanos = System.nanoTime();
    private volatile boolean closed;

    private RackWatch(Directory directory, Supplier<List<RackServer>> servers) {
        this.directory = directory;
        this.servers = servers;
        this.report = ask();
        this.thread = Thread.ofPlatform().daemon().name("rackcall-view-rack").unstarted(this::run);
    }

    /**
     * Opens the directory, asks it once, and goes on asking.
     *
     * @param host the name of this host there
     * @throws DirectoryException if it cannot be opened
     */
    static RackWatch start(URI address, String host) {
        Directory directory = Directory.open(address);
        return start(directory, () -> servers(directory, host));
    }

    /**
     * Polls {@code servers} until closed.
     *
     * @param directory closed with it
     */
    static RackWatch start(Directory directory, Supplier<List<RackServer>> servers) {
        RackWatch watch = new RackWatch(directory, servers);
        watch.thread.start();
        return watch;
    }

    /** The last answer, at most a few seconds old if reports are asked for. */
    RackReport report() {
        askedNanos = System.nanoTime();
        return report;
    }

    private void run() {
        try {
            while (!closed) {
                Thread.sleep(PAUSE);
                if (System.nanoTime() - askedNanos < ViewSampler.PATIENCE.toNanos()) {
                    report = ask();
                }
            }
        } catch (InterruptedException e) {
            // Closed.
        }
    }

    /** Asks now; keeps the last servers if the directory does not answer. */
    RackReport ask() {
        try {
            List<RackServer> all = servers.get();
            int shown = Math.min(all.size(), MOST_SERVERS);
            return new RackReport(Optional.empty(), List.copyOf(all.subList(0, shown)), all.size() - shown);
        } catch (DirectoryException e) {
            return failed(e.getMessage());
        } catch (RuntimeException e) {
            // This thread must not end: the page would show these servers for ever.
            return failed(e.toString());
        }
    }

    private RackReport failed(String problem) {
        List<RackServer> last = report == null ? List.of() : report.servers();
        return new RackReport(Optional.of(problem), last, 0);
    }

    private static List<RackServer> servers(Directory directory, String host) {
        List<RackServer> servers = new ArrayList<>();
        for (ChannelName channel : directory.channels()) {
            directory.endpoints(channel).forEach(endpoint -> servers.add(server(channel, endpoint, host)));
        }
        servers.sort(ORDER);
        return servers;
    }

    private static RackServer server(ChannelName channel, Endpoint endpoint, String host) {
        List<String> carriers = new ArrayList<>();
        if (!endpoint.pools().isEmpty()) {
            carriers.add("POOL");
        }
        if (!endpoint.rdma().isEmpty()) {
            carriers.add("RDMA");
        }
        if (!endpoint.tcp().isEmpty()) {
            carriers.add("TCP");
        }
        return new RackServer(
                endpoint.host(),
                endpoint.host().equals(host),
                channel.text(),
                endpoint.id(),
                carriers,
                endpoint.load());
    }

    /** Stops asking and leaves the directory. */
    @Override
    public void close() throws InterruptedException {
        closed = true;
        thread.interrupt();
        thread.join(END);
        directory.close();
    }
}
