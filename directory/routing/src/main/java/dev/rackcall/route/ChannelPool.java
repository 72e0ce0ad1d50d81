package dev.rackcall.route;

import dev.rackcall.rpc.Status;
import dev.rackcall.shm.pool.Pool;
import java.util.Optional;

/**
 * The pool through which a channel may reach servers. The application may replace, remove or close it while the channel
 * is open. Thread-safe.
 */
final class ChannelPool {
    private volatile State state;

    /** @param name of the pool in endpoints, read while the pool is known to be open */
    private record State(Optional<Pool> pool, Optional<String> name, String whyNone) {}

    /** @throws dev.rackcall.rpc.RpcException FAILED_PRECONDITION if the pool is closed */
    ChannelPool(Optional<Pool> pool) {
        this.state = new State(pool, pool.map(ChannelPool::name), "this channel was given no pool");
    }

    /** Replaces or removes the pool; throws as the constructor does. */
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

    /** The pool for a connection attempt now. */
    Optional<Pool> current() {
        return state.pool();
    }

    /** Why the channel cannot use a server's pool {@code theirs}; empty if it can. */
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
