package dev.rackcall.rpc;

import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * Serves one or more services. Thread-safe. Several servers of one host may serve the same channel; its clients use all
 * of them. See {@code docs/servers.md}.
 *
 * <p>Your program decides when to shut down: an exit hook that calls {@link #shutdown} can take as long as it needs. If
 * the process exits normally and the server is still open after all hooks, calls in flight end with UNAVAILABLE, and
 * the server leaves no files. A server of a pool closes itself at exit, since its memory outlives the process.
 *
 * <pre>{@code
 * try (RpcServer server = RpcServer.builder().service(Search.class, new SearchService()).start()) {
 *     server.awaitTermination();
 * }
 * }</pre>
 */
public interface RpcServer extends AutoCloseable {
    static Builder builder() {
        return RpcProvider.get().server();
    }

    /** What a server does at the moment. */
    enum State {
        /** It takes new clients and calls. */
        SERVING,
        /** It is shutting down: it takes no new clients, clients go elsewhere, and calls in flight continue. */
        DRAINING,
        /** It has ended. */
        CLOSED
    }

    /** What the server does at the moment, for a health check. */
    State state();

    /** The channels that it serves. */
    List<String> channels();

    /** The first address at which it listens for clients that share no memory with this process, if any. */
    Optional<URI> address();

    /**
     * All addresses at which it listens for clients that share no memory with this process, in the order in which they
     * were added.
     */
    List<URI> addresses();

    /** Clients that are connected now. */
    int connections();

    /**
     * Calls of all clients that have not ended. Includes requests that were waiting for a polling thread when it last
     * counted them; this method triggers the next count. Does not wait, and is approximate while calls come and go.
     * Announced to directories as the server's load.
     */
    int callsUnderWay();

    /**
     * Stops gracefully: accepts no new clients, lets calls in flight end for at most {@code bound}, then closes. Asks
     * every client to begin no more calls, and waits for a client that does not answer, such as a stopped one, for at most
     * 5 s and half of what is left of the bound. A stream is in flight until it has been read or closed, but at most 60 s after its reader's last request. Also
     * waits, within the bound, until clients have released their results and closed their scopes. Returns whether all
     * of that came about. If another thread is already shutting down, waits for it for at most {@code
     * bound}, and returns false if it is not done by then; calls in flight get the longer of both bounds. An interrupt
     * does not shorten it, and stays set.
     */
    boolean shutdown(Duration bound);

    /** Waits until the server is closed. */
    void awaitTermination() throws InterruptedException;

    /** Waits until the server is closed, for at most {@code bound}; returns whether it is. */
    boolean awaitTermination(Duration bound) throws InterruptedException;

    /**
     * Shuts down gracefully within 5 s. Takes these 5 s if a client has a stream open and does not read it: it may be a
     * slow reader, whose stream must not be cut. Idempotent.
     */
    @Override
    void close();

    /** Collects a server's settings. All but the services have defaults. */
    interface Builder {
        /**
         * Adds a service; its channel is that of its {@link RpcService} annotation. The implementation must be
         * thread-safe: with every {@link Dispatch}, handlers of several calls may run at once.
         */
        <S> Builder service(Class<S> type, S implementation);

        /**
         * Adds a service under another name than that of its annotation, for example one of several services with the
         * same interface. Clients open that name.
         *
         * @throws RpcException INVALID_ARGUMENT if it is not a channel's name, ALREADY_EXISTS if the server has it
         *     already
         */
        <S> Builder service(Class<S> type, S implementation, String channel);

        /**
         * Lets no other server serve the same channels from the same runtime folder or pool: the server that starts
         * later fails with ALREADY_EXISTS if either of the two is exclusive. The restriction ends with the server's
         * process.
         */
        Builder exclusive();

        /** Adds an interceptor after those added before. */
        Builder interceptor(ServerInterceptor interceptor);

        /** Adds a meter of all calls that reach their handlers. */
        Builder meter(CallMeter meter);

        /** Which threads run handlers; {@link Dispatch#direct} by default. */
        Builder dispatch(Dispatch value);

        /** How pollers wait; {@link WaitStrategy#adaptive} by default. */
        Builder waiting(WaitStrategy value);

        /**
         * Number of polling threads. By default there are as many as the load needs: one at first, and at most one for
         * each four processors. With {@link WaitStrategy#busySpin} there is one, because such a thread never rests.
         */
        Builder pollers(int value);

        /** Where sockets and lock files lie; see {@link RpcChannel.Builder#runtimeFolder(Path)}. */
        Builder runtimeFolder(Path value);

        /** Maximum number of connected clients; 10,000 by default. */
        Builder maxConnections(int value);

        /**
         * Maximum size in bytes of one client's request arena, and of its reply arena; 256 MiB by default, at least 64
         * KiB. Memory is reserved as needed.
         */
        Builder arenaQuota(long bytes);

        /** Maximum size in bytes of a channel's shared arena; 4 GiB by default. Memory is reserved as needed. */
        Builder sharedQuota(long bytes);

        /**
         * The minimum isolation of calls that pass shared objects; {@link Isolation#TRUSTED} by default. A call below
         * it fails with FAILED_PRECONDITION. {@link Isolation#SEALED} trusts a caller's own seal. {@link
         * Isolation#SNAPSHOT} and {@link Isolation#AUTO} trust no caller, and copy every scope that no trusted process
         * has sealed.
         */
        Builder minimumIsolation(Isolation value);

        /**
         * Lets only listed clients open the channels of a service, which was added before. This list has effective user
         * ids, for clients on this host; {@link #allowCertificates} lists clients over a network. Others are refused
         * with PERMISSION_DENIED, a log line and a JFR event {@code dev.rackcall.AccessRefused}. Without a list, this
         * host's memory is open to the server's own user, and an address of {@link #listen} to every certificate that
         * the authority has signed. Other users also need the right to reach the runtime folder. Cannot be combined
         * with a {@link #pool}, whose clients prove no user.
         */
        Builder allowUsers(Class<?> service, int... uids);

        /**
         * As {@link #allowUsers}, for clients over a network.
         *
         * @param names each the common name of a certificate's subject, or one of its DNS names. Without TLS, and over
         *     {@code vq://}, clients prove no name and are all refused
         */
        Builder allowCertificates(Class<?> service, String... names);

        /** What handlers may reach from the arguments of isolated calls; {@link SandboxPolicy#STRICT} by default. */
        Builder sandbox(SandboxPolicy value);

        /** How long a handler may keep a polling thread before another thread takes over polling; 20 ms by default. */
        Builder stuckAfter(Duration value);

        /**
         * Serves the processes of all hosts that map a pool ({@link Pool#dax(java.nio.file.Path, int)}) instead of this
         * host's. Each arena takes at most a 64th of the pool. No kernel reports a peer's death there: a client without
         * a sign of life for 5 s counts as gone.
         *
         * @param value owned by the caller; must stay open as long as the server
         */
        Builder pool(Pool value);

        /**
         * Uses huge pages of 2 MiB for each connection's memory, initially three pages. Large scopes begin on their own
         * pages and are sealed in a few microseconds whatever their size; smaller ones cannot be sealed and are sent as
         * snapshots. With {@link Wish#PREFER} a connection has small pages if too few huge ones are left ({@code
         * vm.nr_hugepages}) or the client requests less than one. With {@link Wish#REQUIRE} it is refused with
         * RESOURCE_EXHAUSTED, and a server does not start on a host without any. Not for untrusted clients, see
         * docs/isolation.md. Small pages by default; a {@link #pool} has its own.
         */
        Builder hugePages(Wish wish);

        /**
         * Also serves clients that share no memory with this process. May be called for several addresses, which all
         * serve the same channels. Unless the host is a loopback address, {@link #start} requires TLS ({@code
         * RdmaSettings.tls}) or {@link #insecure}. An agent process has TLS of its own, so {@code vq://} is not checked
         * here.
         *
         * @param value {@code rdma://host:port} for a queue pair per client, on this host's RDMA device if it has one,
         *     else on a software device over TCP; {@code soft://host:port} for the software device in any case; {@code
         *     vq://host:port} for virtual queues of the control plane. Port 0 chooses a free one, see {@link
         *     RpcServer#addresses}
         */
        Builder listen(URI value);

        /**
         * Serves every process that reaches an address of {@link #listen}, also from other hosts and without a
         * certificate: choose addresses that only trusted hosts reach. Needed for RDMA devices, which do not
         * support certificates.
         */
        Builder insecure();

        /**
         * Announces the server in a directory, where clients find it by the names of its channels and choose the best
         * route: this host's memory or the {@link #pool}, and the addresses at which it {@link #listen}s. The entry
         * lasts as long as the server; closing the server withdraws the entry first.
         *
         * @param value {@code file:///a/folder}, or {@code zk://host:2181,host:2181} with the module {@code
         *     rackcall-directory-zookeeper}
         */
        Builder directory(URI value);

        /** The name of this host in the directory; {@code RACKCALL_HOST}, or the kernel's, by default. */
        Builder host(String value);

        /**
         * Begins to serve.
         *
         * @throws RpcException ALREADY_EXISTS if a living server has one of the channels and either is {@link
         *     #exclusive}, PERMISSION_DENIED or
         *     FAILED_PRECONDITION if the runtime directory cannot be used, FAILED_PRECONDITION if huge pages are
         *     required and there are none, or if an address is open to other hosts without TLS and {@link #insecure} was
         *     not called, UNAVAILABLE if the directory does not answer
         */
        RpcServer start();
    }
}
