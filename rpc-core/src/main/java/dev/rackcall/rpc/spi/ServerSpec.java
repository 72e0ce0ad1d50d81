package dev.rackcall.rpc.spi;

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
import java.util.Optional;

/**
 * What a server asks of a transport.
 *
 * @param services what is served, one channel each
 * @param interceptors seen by every call, in order; empty for most servers
 * @param dispatch which threads run handlers
 * @param waiting how pollers wait
 * @param pollers number of polling threads; connections are spread over them
 * @param directory where sockets and lock files are
 * @param maxConnections connections at once; more are refused with RESOURCE_EXHAUSTED
 * @param arenaQuota the most that a client gets for its request arena and for its reply arena, in bytes
 * @param sharedQuota the most that a channel's shared arena may grow to, in bytes
 * @param minimumIsolation what calls that pass shared objects must have at least, on top of what their methods declare
 * @param sandbox what handlers may reach from isolated arguments
 * @param stuckAfter how long a direct handler may take before another thread polls on
 * @param pool of several hosts, whose processes are served instead of this host's; open as long as the server
 * @param hugePages whether the memory of connections is to consist of huge pages
 * @param addresses where clients that share no memory with the server connect, too; all serve the same
 */
public record ServerSpec(
        List<Service<?>> services,
        List<ServerInterceptor> interceptors,
        Dispatch dispatch,
        WaitStrategy waiting,
        int pollers,
        Path directory,
        int maxConnections,
        long arenaQuota,
        long sharedQuota,
        Isolation minimumIsolation,
        SandboxPolicy sandbox,
        Duration stuckAfter,
        Optional<Pool> pool,
        Optional<Wish> hugePages,
        List<URI> addresses) {

    /**
     * One service.
     *
     * @param definition generated
     * @param dispatcher generated, around the user's object
     */
    public record Service<S>(ServiceDefinition<S> definition, Dispatcher dispatcher) {}
}
