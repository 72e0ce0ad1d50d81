package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.CallMeter;
import dev.rackcall.rpc.DeadlineClock;
import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.SandboxPolicy;
import dev.rackcall.rpc.ServerInterceptor;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * What a server requires of its transports.
 *
 * @param services what is served, one channel each
 * @param interceptors that see every call, in order
 * @param meters that measure every call that reaches its handler
 * @param threads which threads poll and run handlers
 * @param limits bounds on what clients may use
 * @param trust what is required of clients, and of calls that pass shared objects
 * @param place where clients connect
 * @param clock on which the deadlines of calls are measured
 */
public record ServerSpec(
        List<Service<?>> services,
        List<ServerInterceptor> interceptors,
        List<CallMeter> meters,
        Threads threads,
        Limits limits,
        Trust trust,
        Place place,
        DeadlineClock clock) {
    /**
     * One service.
     *
     * @param channel the name by which clients reach it
     * @param definition generated
     * @param dispatcher generated, around the user's object
     */
    public record Service<S>(String channel, ServiceDefinition<S> definition, Dispatcher dispatcher) {
        /** A service under the name of its annotation. */
        public Service(ServiceDefinition<S> definition, Dispatcher dispatcher) {
            this(definition.channel(), definition, dispatcher);
        }
    }

    /**
     * Which threads poll and run handlers.
     *
     * @param dispatch which threads run handlers
     * @param waiting how pollers wait
     * @param pollers number of polling threads; empty: as many as the load needs
     * @param stuckAfter how long a direct handler may take before another thread takes over polling
     */
    public record Threads(Dispatch dispatch, WaitStrategy waiting, OptionalInt pollers, Duration stuckAfter) {}

    /**
     * Bounds on what clients may use.
     *
     * @param connections maximum number at once; more are refused with RESOURCE_EXHAUSTED
     * @param arenaQuota maximum bytes of a client's request arena, and of its reply arena
     * @param sharedQuota maximum bytes of a channel's shared arena
     */
    public record Limits(int connections, long arenaQuota, long sharedQuota) {}

    /**
     * What is required of clients, and of calls that pass shared objects.
     *
     * @param minimum the minimum isolation, in addition to what methods declare
     * @param sandbox what handlers may reach from isolated arguments
     * @param access by channel; a channel without an entry has no access list
     */
    public record Trust(Isolation minimum, SandboxPolicy sandbox, Map<String, AccessList> access) {}

    /**
     * Where clients connect.
     *
     * @param directory of this host's sockets and lock files
     * @param pool of several hosts, whose processes are served instead of this host's; open as long as the server
     * @param hugePages whether the memory of connections consists of huge pages
     * @param addresses for clients that share no memory with the server; all serve the same channels
     * @param insecure whether they may be open to every process that reaches them
     * @param isExclusive whether other servers in the runtime directory must not serve the same channels
     */
    public record Place(
            Path directory,
            Optional<Pool> pool,
            Optional<Wish> hugePages,
            List<URI> addresses,
            boolean insecure,
            boolean isExclusive) {
        public static Place here(Path directory) {
            return new Place(directory, Optional.empty(), Optional.empty(), List.of(), false, false);
        }
    }
}
