package dev.rackcall.cp.meta;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.directory.Announcement;
import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.ChannelView;
import dev.rackcall.directory.Directory;
import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.DirectoryException.Reason;
import dev.rackcall.directory.Endpoint;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the meta server through a directory. A meta server has another address after each start, and agents find the
 * new one here. A directory names one meta server at a time; a second one waits until the first is closed or its lease
 * ends, and then takes over. Any thread may use it. The caller still owns the directory, and closes it afterwards.
 *
 * {@snippet :
 * Directory directory = Directory.open(URI.create("zk://zk1:2181,zk2:2181,zk3:2181"));
 * MetaDirectory names = MetaDirectory.follow(directory);
 * names.announce(MetaServer.open(device, 10_000).address(), "host-a");             // in one process of the cluster
 * Agent agent = Agent.open(device, AgentOptions.of(HostId.named("b")).withMeta(names)); // in all
 * }
 */
public final class MetaDirectory implements Supplier<ControlAddress>, AutoCloseable {
    /** The channel name of the meta server in the directory. The only endpoint has its control address. */
    public static final ChannelName CHANNEL = ChannelName.of("/rackcall/meta");

    private static final Logger LOG = LoggerFactory.getLogger(MetaDirectory.class);
    /** The id of every meta server's endpoint, so that a second one is refused while the first one is named. */
    static final String ID = "meta";

    private static final String SCHEME = "control";
    /** No service has this fingerprint, so the announcement of a service under this channel name is refused. */
    static final long FINGERPRINT = 0x6D65_7461_0000_0001L;

    private static final long RETRY_MILLIS = 500;
    private static final Duration FAREWELL = Duration.ofSeconds(10);

    /** The parsed address of these endpoints. */
    private record Read(List<Endpoint> endpoints, Optional<ControlAddress> address) {}

    private final Directory directory;
    private final ChannelView view;
    /** Notified after each change in the directory. */
    private final Object news = new Object();

    private final CountDownLatch closing = new CountDownLatch(1);
    private volatile Read last = new Read(List.of(), Optional.empty());
    private volatile Optional<String> problem = Optional.empty();
    /**
     * The announcement of this process. Written under the monitor, which is held during requests to the store; read
     * without it, so that reads never wait.
     */
    private volatile Optional<Announcement> announcement = Optional.empty();

    private Optional<Thread> announcer = Optional.empty();

    private MetaDirectory(Directory directory) {
        this.directory = directory;
        view = directory.follow(CHANNEL);
        view.listen(_ -> tellWaiting());
    }

    private void tellWaiting() {
        synchronized (news) {
            news.notifyAll();
        }
    }

    /**
     * Follows the directory from now on. The address is known a moment later ({@link #await}).
     *
     * @throws DirectoryException UNAVAILABLE if the directory does not answer
     */
    public static MetaDirectory follow(Directory directory) {
        return new MetaDirectory(directory);
    }

    /** The current address. Never waits; returns the last known address while the directory cannot be reached. */
    public Optional<ControlAddress> current() {
        List<Endpoint> endpoints = view.endpoints();
        Read known = last;
        if (known.endpoints() != endpoints) {
            known = new Read(endpoints, named(endpoints));
            last = known;
        }
        return known.address();
    }

    /** Ignores endpoints that are not meta servers, such as a service under this name. */
    static Optional<ControlAddress> named(List<Endpoint> endpoints) {
        return endpoints.stream()
                .filter(MetaDirectory::isMetaServer)
                .flatMap(endpoint -> endpoint.rdma().stream())
                .flatMap(address -> parse(address).stream())
                .findFirst();
    }

    private static boolean isMetaServer(Endpoint endpoint) {
        return endpoint.id().equals(ID) && endpoint.fingerprint() == FINGERPRINT;
    }

    private static Optional<ControlAddress> parse(URI address) {
        if (!SCHEME.equals(address.getScheme())) {
            return Optional.empty();
        }
        try {
            return Optional.of(ControlAddress.parse(address.getSchemeSpecificPart()));
        } catch (IllegalArgumentException e) {
            // Members of the directory are trusted, but may have another version.
            LOG.warn("the directory names {} as the meta server: {}", address, e.getMessage());
            return Optional.empty();
        }
    }

    /**
     * As {@link #current}, for {@code AgentOptions.withMeta}.
     *
     * @throws ControlPlaneException UNREACHABLE if the directory names none
     */
    @Override
    public ControlAddress get() {
        return current()
                .orElseThrow(() -> new ControlPlaneException(
                        Kind.UNREACHABLE,
                        "the directory names no meta server (" + CHANNEL
                                + "); start one, as ./rackcall agent --with-meta does, in this directory"));
    }

    /**
     * Waits until the directory names a meta server.
     *
     * @return the address; empty if the directory names none in this time
     */
    public Optional<ControlAddress> await(Duration atMost) throws InterruptedException {
        long end = System.nanoTime() + atMost.toNanos();
        synchronized (news) {
            for (long left = atMost.toNanos(); left > 0 && current().isEmpty(); left = end - System.nanoTime()) {
                // Rounded up, since 0 would wait forever.
                news.wait(left / 1_000_000 + 1);
            }
        }
        return current();
    }

    /**
     * Announces a meta server until this is closed. If the directory does not respond or names another one, a thread
     * retries until the announcement succeeds. Call it once.
     *
     * @param host where it runs, for messages
     */
    public synchronized void announce(ControlAddress address, String host) {
        if (announcer.isPresent()) {
            throw new IllegalStateException("a meta server is announced already; follow the directory once for each");
        }
        Endpoint endpoint = Endpoint.of(ID, host, FINGERPRINT).withRdma(List.of(URI.create(SCHEME + ":" + address)));
        Thread thread =
                Thread.ofPlatform().daemon().name("rackcall-meta-name").unstarted(() -> keepTrying(endpoint, address));
        announcer = Optional.of(thread);
        if (!tryToAnnounce(endpoint, address)) {
            thread.start();
        }
    }

    /** Why the directory does not name the announced meta server yet, or no longer does; empty if it does. */
    public Optional<String> problem() {
        // Read once, since close clears the field.
        Optional<Announcement> made = announcement;
        return made.isPresent() && !made.get().isStanding()
                ? Optional.of("its lease in the directory has ended; it is named again as soon as the directory answers"
                        + " and names no other one")
                : problem;
    }

    private void keepTrying(Endpoint endpoint, ControlAddress address) {
        try {
            while (!closing.await(RETRY_MILLIS, TimeUnit.MILLISECONDS) && !tryToAnnounce(endpoint, address)) {
                LOG.debug("{} is not named yet", address);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private synchronized boolean tryToAnnounce(Endpoint endpoint, ControlAddress address) {
        if (closing.getCount() == 0) {
            return true;
        }
        try {
            announcement = Optional.of(directory.announce(CHANNEL, endpoint));
            problem = Optional.empty();
            return true;
        } catch (DirectoryException e) {
            // An attempt whose reply was lost may have succeeded. Retries then fail until the lease of its entry ends.
            problem = current().equals(Optional.of(address)) ? Optional.empty() : Optional.of(reason(e));
            return false;
        }
    }

    /** Why an announcement has failed. Another named meta server is normal, unlike for endpoints of other channels. */
    private String reason(DirectoryException failure) {
        if (failure.reason() != Reason.CONFLICT) {
            return failure.getMessage();
        }
        try {
            return directory.endpoints(CHANNEL).stream()
                    .filter(MetaDirectory::isMetaServer)
                    .findFirst()
                    .map(other -> "the directory names the one on " + other.host()
                            + "; this one follows when that has ended, or its lease if it was killed")
                    .orElse(failure.getMessage());
        } catch (DirectoryException e) {
            return e.getMessage();
        }
    }

    /** Withdraws the announced meta server and stops following the directory. Idempotent. */
    @Override
    public void close() {
        closing.countDown();
        synchronized (this) {
            announcement.ifPresent(each -> {
                try {
                    each.close();
                } catch (DirectoryException e) {
                    LOG.info("the meta server's name ends with its lease: {}", e.getMessage());
                }
            });
            announcement = Optional.empty();
        }
        announcer.filter(Thread::isAlive).ifPresent(MetaDirectory::join);
        view.close();
    }

    private static void join(Thread thread) {
        try {
            thread.join(FAREWELL);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
