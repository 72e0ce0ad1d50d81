package dev.rackcall.cli.view;

import dev.rackcall.cli.top.PrintableText;
import dev.rackcall.cli.view.RackReport.RackAgent;
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
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.Stream;

/**
 * Asks a directory for the servers of a rack every few seconds, with a thread of its own: a store that does not answer
 * must not stop the numbers of this host. It also has the agents that the directory names followed. Any thread may ask
 * for the report.
 */
final class RackWatch implements RackView, AutoCloseable {
    static final int MOST_SERVERS = 500;

    private static final Duration PAUSE = Duration.ofSeconds(2);
    private static final Duration END = Duration.ofSeconds(10);
    private static final Comparator<RackServer> ORDER = Comparator.comparing(RackServer::host)
            .thenComparing(RackServer::channel)
            .thenComparing(RackServer::id);

    private final Directory directory;
    private final Supplier<RackReport> names;
    private final RackHosts hosts;
    private final Thread thread;
    private volatile RackReport report;
    private volatile long askedNanos = System.nanoTime();
    private volatile boolean closed;

    private RackWatch(Directory directory, Supplier<RackReport> names, RackHosts hosts) {
        this.directory = directory;
        this.names = names;
        this.hosts = hosts;
        this.report = ask();
        this.thread = Thread.ofPlatform().daemon().name("rackcall-view-rack").unstarted(this::run);
    }

    /**
     * Opens the directory, asks it once, and goes on asking.
     *
     * @param host the name of this host there
     * @param hosts closed with this
     * @throws DirectoryException if it cannot be opened
     */
    static RackWatch start(URI address, String host, RackHosts hosts) {
        Directory directory = Directory.open(address);
        return start(directory, () -> names(directory, host), hosts);
    }

    /**
     * Polls {@code names} until closed.
     *
     * @param directory closed with it
     */
    static RackWatch start(Directory directory, Supplier<RackReport> names, RackHosts hosts) {
        RackWatch watch = new RackWatch(directory, names, hosts);
        watch.thread.start();
        return watch;
    }

    /** The last answer, at most a few seconds old if reports are asked for. */
    @Override
    public Optional<RackReport> report() {
        askedNanos = System.nanoTime();
        return Optional.of(report.leavingOutHosts(hosts.leftOut()));
    }

    @Override
    public List<OtherHost> hosts() {
        return hosts.states();
    }

    @Override
    public Map<String, ViewSeries> series() {
        return hosts.series();
    }

    private void run() {
        try {
            while (!closed) {
                hosts.follow(report.agents());
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
            RackReport all = names.get();
            int shown = Math.min(all.servers().size(), MOST_SERVERS);
            return new RackReport(
                    Optional.empty(),
                    List.copyOf(all.servers().subList(0, shown)),
                    all.servers().size() - shown,
                    all.agents(),
                    0);
        } catch (DirectoryException e) {
            return failed(e.getMessage());
        } catch (RuntimeException e) {
            // This thread must not end: the page would show these servers for ever.
            return failed(e.toString());
        }
    }

    private RackReport failed(String problem) {
        return report == null
                ? new RackReport(Optional.of(problem), List.of(), 0, List.of(), 0)
                : new RackReport(Optional.of(problem), report.servers(), report.leftOut(), report.agents(), 0);
    }

    private static RackReport names(Directory directory, String host) {
        List<RackServer> servers = new ArrayList<>();
        List<RackAgent> agents = new ArrayList<>();
        for (ChannelName channel : directory.channels()) {
            boolean isOfAgents = channel.text().equals(HostView.CHANNEL);
            for (Endpoint endpoint : directory.endpoints(channel)) {
                if (!isOfAgents) {
                    servers.add(server(channel, endpoint, host));
                } else if (!endpoint.host().equals(host) && PrintableText.isPrintable(endpoint.host())) {
                    agent(endpoint).ifPresent(agents::add);
                }
            }
        }
        servers.sort(ORDER);
        agents.sort(Comparator.comparing(RackAgent::host).thenComparing(RackAgent::id));
        return RackReport.of(servers, agents);
    }

    private static Optional<RackAgent> agent(Endpoint endpoint) {
        return Stream.concat(endpoint.rdma().stream(), endpoint.tcp().stream())
                .filter(address -> "vq".equals(address.getScheme()))
                .findFirst()
                .map(address -> new RackAgent(endpoint.id(), endpoint.host(), address));
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

    /** Stops asking and leaves the directory; both even if the calling thread is interrupted. */
    @Override
    public void close() throws InterruptedException {
        closed = true;
        thread.interrupt();
        try {
            thread.join(END);
        } finally {
            try {
                hosts.close();
            } finally {
                directory.close();
            }
        }
    }
}
