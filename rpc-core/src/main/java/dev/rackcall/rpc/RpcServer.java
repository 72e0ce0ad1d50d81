package dev.rackcall.rpc;

import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.spi.Router;
import dev.rackcall.rpc.spi.ServerEndpoint;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.rpc.spi.Transports;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;

/**
 * Serves one or more services. Thread-safe. A server that is still open when its process ends in an orderly way, by an interrupt from the
 * keyboard for example, closes itself and leaves no files.
 *
 * <pre>{@code
 * try (RpcServer server = RpcServer.builder().service(Search.class, new SearchService()).start()) {
 *     server.awaitTermination();
 * }
 * }</pre>
 */
public final class RpcServer implements AutoCloseable {
    private static final Duration CLOSE_BOUND = Duration.ofSeconds(5);
    /** What a server that nobody closed still gets for its calls when its process is told to end. */
    private static final Duration EXIT_BOUND = Duration.ofSeconds(1);

    private final ServerEndpoint endpoint;
    private final List<String> channels;
    private final Optional<Router.Announcement> announcement;
    private final CountDownLatch terminated = new CountDownLatch(1);
    private final Thread exitHook = new Thread(() -> shutdown(EXIT_BOUND), "rackcall-exit");
    private final AtomicBoolean closed = new AtomicBoolean();
    private volatile boolean drained;

    private RpcServer(ServerEndpoint endpoint, List<String> channels, Optional<Router.Announcement> announcement) {
        this.endpoint = endpoint;
        this.channels = channels;
        this.announcement = announcement;
    }

    private static RpcServer started(
            ServerEndpoint endpoint, List<String> channels, Optional<Router.Announcement> announcement) {
        RpcServer server = new RpcServer(endpoint, channels, announcement);
        Runtime.getRuntime().addShutdownHook(server.exitHook);
        return server;
    }

    public static Builder builder() {
        return new Builder();
    }

    /** The channels that it serves. */
    public List<String> channels() {
        return channels;
    }

    /** Where clients connect that share no memory with this process, if they may at all: the first address at which it was told to listen. */
    public Optional<URI> address() {
        return addresses().stream().findFirst();
    }

    /** All addresses at which clients connect that share no memory with this process, in the order in which it was told to listen there. */
    public List<URI> addresses() {
        return endpoint.addresses();
    }

    /** Clients that are connected now. */
    public int connections() {
        return endpoint.connections();
    }

    /**
     * Calls of all clients that are here and have not ended, those included that wait for a polling thread: as many as that found when this was asked the last time, so that it waits for nobody. Not exact
     * while calls come and go. It is what a directory is told as the server's load.
     */
    public int callsUnderWay() {
        return endpoint.callsUnderWay();
    }

    /**
     * Ends gracefully: takes no new clients, lets calls under way end, for at most {@code bound}, then closes. Returns whether all calls ended. Whoever asks while another thread is at it
     * waits for that one, for at most {@code bound}, and returns false if it is not done by then.
     */
    public boolean shutdown(Duration bound) {
        if (!closed.compareAndSet(false, true)) {
            return isTerminatedWithin(bound) && drained;
        }
        try {
            announcement.ifPresent(Router.Announcement::close);
            endpoint.drain();
            drained = endpoint.awaitDrained(bound);
            endpoint.close();
        } finally {
            terminated.countDown();
            forgetExitHook();
        }
        return drained;
    }

    private boolean isTerminatedWithin(Duration bound) {
        try {
            return awaitTermination(bound);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    private void forgetExitHook() {
        try {
            Runtime.getRuntime().removeShutdownHook(exitHook);
        } catch (IllegalStateException e) {
            // The process is ending, and this may be the hook itself: there is nothing left to forget.
            return;
        }
    }

    /** Waits until the server is closed. */
    public void awaitTermination() throws InterruptedException {
        terminated.await();
    }

    /** Waits until the server is closed, for at most {@code bound}; returns whether it is. */
    public boolean awaitTermination(Duration bound) throws InterruptedException {
        return terminated.await(bound.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Shuts down gracefully within a few seconds. Idempotent. */
    @Override
    public void close() {
        shutdown(CLOSE_BOUND);
    }

    @Override
    public String toString() {
        return "RpcServer(" + String.join(", ", channels)
                + addresses().stream().map(uri -> ", " + uri).collect(Collectors.joining())
                + (terminated.getCount() == 0 ? ", closed" : "") + ")";
    }

    /** Collects what a server needs to know. Every setting but the services has a default. */
    public static final class Builder {
        private static final long LEAST_QUOTA = 64L << 10;
        private static final long MOST_QUOTA = 1L << 40;

        private final List<ServerSpec.Service<?>> services = new ArrayList<>();
        private final List<ServerInterceptor> interceptors = new ArrayList<>();
        private Dispatch dispatch = Dispatch.direct();
        private WaitStrategy waiting = WaitStrategy.adaptive();
        private int pollers = 1;
        private Path directory = RuntimeDirectory.defaultPath();
        private int maxConnections = 10_000;
        private long arenaQuota = 256L << 20;
        private long sharedQuota = 4L << 30;
        private Isolation minimumIsolation = Isolation.TRUSTED;
        private SandboxPolicy sandbox = SandboxPolicy.STRICT;
        private Duration stuckAfter = Duration.ofMillis(20);
        private Optional<Pool> pool = Optional.empty();
        private Optional<Wish> hugePages = Optional.empty();
        private final List<URI> addresses = new ArrayList<>();
        private Optional<URI> members = Optional.empty();
        private Optional<String> host = Optional.empty();

        private Builder() {}

        /** Adds a service; its channel is the one of its {@link RpcService} annotation. */
        public <S> Builder service(Class<S> type, S implementation) {
            Objects.requireNonNull(implementation, "implementation");
            ServiceDefinition<S> definition = ServiceDefinition.of(type);
            services.add(new ServerSpec.Service<>(definition, definition.dispatcher(implementation)));
            return this;
        }

        /** Adds an interceptor behind those added before. */
        public Builder interceptor(ServerInterceptor interceptor) {
            interceptors.add(Objects.requireNonNull(interceptor, "interceptor"));
            return this;
        }

        /** Which threads run handlers; {@link Dispatch#direct} by default. */
        public Builder dispatch(Dispatch value) {
            dispatch = Objects.requireNonNull(value, "dispatch");
            return this;
        }

        /** How pollers wait; {@link WaitStrategy#adaptive} by default. */
        public Builder waiting(WaitStrategy value) {
            waiting = Objects.requireNonNull(value, "waiting");
            return this;
        }

        /** Number of polling threads; 1 by default. */
        public Builder pollers(int value) {
            pollers = positive(value, "pollers");
            return this;
        }

        /** Where sockets and lock files lie; see {@link RuntimeDirectory#defaultPath}. */
        public Builder directory(Path value) {
            directory = Objects.requireNonNull(value, "directory");
            return this;
        }

        /** Clients at once; 10,000 by default. */
        public Builder maxConnections(int value) {
            maxConnections = positive(value, "maxConnections");
            return this;
        }

        /** Bytes that one client's request arena, and its reply arena, may grow to; 256 MiB by default, 64 KiB at least. Memory is taken as it is needed. */
        public Builder arenaQuota(long bytes) {
            arenaQuota = quota(bytes, "arenaQuota");
            return this;
        }

        /** Bytes that a channel's shared arena may grow to; 4 GiB by default. Memory is taken as it is needed. */
        public Builder sharedQuota(long bytes) {
            sharedQuota = quota(bytes, "sharedQuota");
            return this;
        }

        /**
         * The least isolation with which calls may pass shared objects, {@link Isolation#TRUSTED} by default; a call below it fails with
         * FAILED_PRECONDITION. {@link Isolation#SEALED} believes a caller that says it has sealed its scope; {@link Isolation#SNAPSHOT} and
         * {@link Isolation#AUTO} believe nobody, and copy what no trusted process has sealed.
         */
        public Builder minimumIsolation(Isolation value) {
            minimumIsolation = value.or(Isolation.TRUSTED);
            return this;
        }

        /** What handlers may reach from the arguments of isolated calls; {@link SandboxPolicy#STRICT} by default. */
        public Builder sandbox(SandboxPolicy value) {
            sandbox = Objects.requireNonNull(value, "sandbox");
            return this;
        }

        /** How long a handler may keep a polling thread before another thread polls on; 20 ms by default. */
        public Builder stuckAfter(Duration value) {
            stuckAfter = Objects.requireNonNull(value, "stuckAfter");
            return this;
        }

        /**
         * Serves the processes of all hosts that map a pool ({@link Pool#dax(java.nio.file.Path, int)}) instead of those of this host. Arenas are taken from the pool
         * whole, at most a 64th part of it each. No kernel tells of a peer's death there: a client that has given no sign of life for 5 s counts
         * as gone.
         *
         * @param value open as long as the server; stays the caller's
         */
        public Builder pool(Pool value) {
            pool = Optional.of(value);
            return this;
        }

        /**
         * The memory of each connection consists of huge pages of 2 MiB, so that large scopes, which then begin on pages of their own, are sealed in a
         * few microseconds whatever their size; smaller ones cannot be sealed there and are sent as snapshots. A connection takes three huge pages at
         * first. With {@link Wish#PREFER} one has small pages if the host has too few huge ones left ({@code vm.nr_hugepages}) or the client asks for
         * less than one; with {@link Wish#REQUIRE} it is refused with RESOURCE_EXHAUSTED, and a server on a host without any does not start. Do not
         * combine it with clients that are not trusted: docs/isolation.md says why. Small pages by default; a {@link #pool}
         * has the pages it has.
         */
        public Builder hugePages(Wish wish) {
            hugePages = Optional.of(wish);
            return this;
        }

        /**
         * Serves clients that share no memory with this process as well; may be called for several addresses, which then serve the same. Whoever reaches the address may call: who they are is
         * not known there, so name one that only friends reach.
         *
         * @param value {@code rdma://host:port} for a queue pair for each client, by this host's RDMA device if it has one, else by a software device over TCP; {@code soft://host:port} for the latter in
         *     any case; {@code vq://host:port} for virtual queues of the control plane; with port 0 any free one, see {@link RpcServer#addresses}
         */
        public Builder listen(URI value) {
            addresses.add(Objects.requireNonNull(value, "address"));
            return this;
        }

        /**
         * Names the server in a directory, so that clients find it and the best way to it by its channels' names: this host's memory or the {@link #pool},
         * and the addresses at which it {@link #listen}s. It is named as long as it lives; a server that is closed withdraws first.
         *
         * @param value {@code file:///a/folder}, or {@code zk://host:2181,host:2181} with the module {@code directory-zookeeper}
         */
        public Builder directory(URI value) {
            members = Optional.of(value);
            return this;
        }

        /** The name of this host in the directory; {@code RACKCALL_HOST}, or what the kernel says, by default. */
        public Builder host(String value) {
            host = Optional.of(value);
            return this;
        }

        /**
         * Begins to serve.
         *
         * @throws RpcException ALREADY_EXISTS if a living server has one of the channels, PERMISSION_DENIED or FAILED_PRECONDITION if the
         *     directory cannot be used, FAILED_PRECONDITION if huge pages are required and there are none, or if the directory has another interface
         *     for a channel, UNAVAILABLE if the directory does not answer
         */
        public RpcServer start() {
            if (services.isEmpty()) {
                throw new IllegalStateException(
                        "a server needs at least one service; call service(Type.class, implementation)");
            }
            ServerSpec spec = new ServerSpec(
                    List.copyOf(services),
                    List.copyOf(interceptors),
                    dispatch,
                    waiting,
                    pollers,
                    directory,
                    maxConnections,
                    arenaQuota,
                    sharedQuota,
                    minimumIsolation,
                    sandbox,
                    stuckAfter,
                    pool,
                    hugePages,
                    List.copyOf(addresses));
            List<String> channels = services.stream()
                    .map(service -> service.definition().channel())
                    .toList();
            ServerEndpoint endpoint = Transports.first().serve(spec);
            try {
                return started(endpoint, channels, announced(spec, endpoint));
            } catch (RuntimeException | Error e) {
                endpoint.close();
                throw e;
            }
        }

        private Optional<Router.Announcement> announced(ServerSpec spec, ServerEndpoint endpoint) {
            return members.map(place -> Router.get()
                    .announce(
                            spec, endpoint, new Router.Membership(place, host.orElseGet(RuntimeDirectory::hostName))));
        }

        static long quota(long bytes, String what) {
            if (bytes < LEAST_QUOTA || bytes > MOST_QUOTA) {
                throw new IllegalArgumentException(
                        what + " must be " + LEAST_QUOTA + " to " + MOST_QUOTA + " bytes, not " + bytes);
            }
            return bytes;
        }

        private static int positive(int value, String what) {
            if (value < 1) {
                throw new IllegalArgumentException(what + " must be at least 1, not " + value);
            }
            return value;
        }
    }
}
