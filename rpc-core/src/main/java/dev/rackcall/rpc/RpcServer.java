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
 * Serves one or more services. Thread-safe. A server that is still open when its process ends in an orderly way, by an interrupt from the
 * keyboard for example, closes itself and leaves no files.
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

    /** The channels that it serves. */
    List<String> channels();

    /** Where clients connect that share no memory with this process, if they may at all: the first address at which it was told to listen. */
    Optional<URI> address();

    /** All addresses at which clients connect that share no memory with this process, in the order in which it was told to listen there. */
    List<URI> addresses();

    /** Clients that are connected now. */
    int connections();

    /**
     * Calls of all clients that are here and have not ended, those included that wait for a polling thread: as many as that found when this was asked the last time, so that it waits for nobody. Not exact
     * while calls come and go. It is what a directory is told as the server's load.
     */
    int callsUnderWay();

    /**
     * Ends gracefully: takes no new clients, lets calls under way end, for at most {@code bound}, then closes. Returns whether all calls ended. Whoever asks while another thread is at it
     * waits for that one, for at most {@code bound}, and returns false if it is not done by then.
     */
    boolean shutdown(Duration bound);

    /** Waits until the server is closed. */
    void awaitTermination() throws InterruptedException;

    /** Waits until the server is closed, for at most {@code bound}; returns whether it is. */
    boolean awaitTermination(Duration bound) throws InterruptedException;

    /** Shuts down gracefully within a few seconds. Idempotent. */
    @Override
    void close();

    /** Collects what a server needs to know. Every setting but the services has a default. */
    interface Builder {
        /** Adds a service; its channel is the one of its {@link RpcService} annotation. */
        <S> Builder service(Class<S> type, S implementation);

        /** Adds an interceptor behind those added before. */
        Builder interceptor(ServerInterceptor interceptor);

        /** Which threads run handlers; {@link Dispatch#direct} by default. */
        Builder dispatch(Dispatch value);

        /** How pollers wait; {@link WaitStrategy#adaptive} by default. */
        Builder waiting(WaitStrategy value);

        /** Number of polling threads; 1 by default. */
        Builder pollers(int value);

        /** Where sockets and lock files lie; see {@link RpcChannel.Builder#directory(Path)}. */
        Builder directory(Path value);

        /** Clients at once; 10,000 by default. */
        Builder maxConnections(int value);

        /** Bytes that one client's request arena, and its reply arena, may grow to; 256 MiB by default, 64 KiB at least. Memory is taken as it is needed. */
        Builder arenaQuota(long bytes);

        /** Bytes that a channel's shared arena may grow to; 4 GiB by default. Memory is taken as it is needed. */
        Builder sharedQuota(long bytes);

        /**
         * The least isolation with which calls may pass shared objects, {@link Isolation#TRUSTED} by default; a call below it fails with
         * FAILED_PRECONDITION. {@link Isolation#SEALED} believes a caller that says it has sealed its scope; {@link Isolation#SNAPSHOT} and
         * {@link Isolation#AUTO} believe nobody, and copy what no trusted process has sealed.
         */
        Builder minimumIsolation(Isolation value);

        /** What handlers may reach from the arguments of isolated calls; {@link SandboxPolicy#STRICT} by default. */
        Builder sandbox(SandboxPolicy value);

        /** How long a handler may keep a polling thread before another thread polls on; 20 ms by default. */
        Builder stuckAfter(Duration value);

        /**
         * Serves the processes of all hosts that map a pool ({@link Pool#dax(java.nio.file.Path, int)}) instead of those of this host. Arenas are taken from the pool
         * whole, at most a 64th part of it each. No kernel tells of a peer's death there: a client that has given no sign of life for 5 s counts
         * as gone.
         *
         * @param value open as long as the server; stays the caller's
         */
        Builder pool(Pool value);

        /**
         * The memory of each connection consists of huge pages of 2 MiB, so that large scopes, which then begin on pages of their own, are sealed in a
         * few microseconds whatever their size; smaller ones cannot be sealed there and are sent as snapshots. A connection takes three huge pages at
         * first. With {@link Wish#PREFER} one has small pages if the host has too few huge ones left ({@code vm.nr_hugepages}) or the client asks for
         * less than one; with {@link Wish#REQUIRE} it is refused with RESOURCE_EXHAUSTED, and a server on a host without any does not start. Do not
         * combine it with clients that are not trusted: docs/isolation.md says why. Small pages by default; a {@link #pool}
         * has the pages it has.
         */
        Builder hugePages(Wish wish);

        /**
         * Serves clients that share no memory with this process as well; may be called for several addresses, which then serve the same. Whoever reaches the address may call: who they are is
         * not known there, so name one that only friends reach.
         *
         * @param value {@code rdma://host:port} for a queue pair for each client, by this host's RDMA device if it has one, else by a software device over TCP; {@code soft://host:port} for the latter in
         *     any case; {@code vq://host:port} for virtual queues of the control plane; with port 0 any free one, see {@link RpcServer#addresses}
         */
        Builder listen(URI value);

        /**
         * Names the server in a directory, so that clients find it and the best way to it by its channels' names: this host's memory or the {@link #pool},
         * and the addresses at which it {@link #listen}s. It is named as long as it lives; a server that is closed withdraws first.
         *
         * @param value {@code file:///a/folder}, or {@code zk://host:2181,host:2181} with the module {@code directory-zookeeper}
         */
        Builder directory(URI value);

        /** The name of this host in the directory; {@code RACKCALL_HOST}, or what the kernel says, by default. */
        Builder host(String value);

        /**
         * Begins to serve.
         *
         * @throws RpcException ALREADY_EXISTS if a living server has one of the channels, PERMISSION_DENIED or FAILED_PRECONDITION if the
         *     directory cannot be used, FAILED_PRECONDITION if huge pages are required and there are none, or if the directory has another interface
         *     for a channel, UNAVAILABLE if the directory does not answer
         */
        RpcServer start();
    }
}
