package dev.rackcall.route;

import dev.rackcall.rpc.Status;
import dev.rackcall.shm.pool.Pool;
import java.util.Optional;

/**
 * The pool by which a channel may reach servers. It can be taken away and replaced while the channel is open; whoever gives it may also close it at any time. Thread-safe.
 */
final class ChannelPool {
    private volatile State state;

    /** @param name by which endpoints know it: read when it is given, since its memory may be gone at any time after that */
    private record State(Optional<Pool> pool, Optional<String> name, String whyNone) {}

    /** @throws dev.rackcall.rpc.RpcException FAILED_PRECONDITION if the pool is closed */
    ChannelPool(Optional<Pool> pool) {
        this.state = new State(pool, pool.map(ChannelPool::name), "this channel was given no pool");
    }

    /** As the constructor; a pool that is there already is left. */
    void change(Optional<Pool> pool) {
        state = new State(pool, pool.map(ChannelPool::name), "this channel has left its pool");
    }

    private static String name(Pool pool) {
        try {
            return MemoryNames.pool(pool);
        } catch (IllegalStateException e) {
            throw Status.Code.FAILED_PRECONDITION
                    .with("%s is closed; give the channel one that is open", pool)
                    .asException(e);
        }
    }

    /** The one to connect by, at this moment. */
    Optional<Pool> current() {
        return state.pool();
    }

    /** What keeps the channel from a server that serves {@code theirs}; empty if nothing does. */
    Optional<String> obstacle(String theirs) {
        State now = state;
        if (now.pool().isEmpty()) {
            return Optional.of(now.whyNone());
        }
        if (!now.pool().get().isOpen()) {
            return Optional.of("the pool that this channel was given is closed");
        }
        return now.name().equals(Optional.of(theirs))
                ? Optional.empty()
                : Optional.of("its server serves another pool than this channel was given");
    }
}
