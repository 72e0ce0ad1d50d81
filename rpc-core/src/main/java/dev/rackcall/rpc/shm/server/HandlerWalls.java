package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.sandbox.ProtectionKeys;
import dev.rackcall.sandbox.SandboxException;
import dev.rackcall.sandbox.os.StoreBarrier;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a server's handlers behind protection keys if requested. Each runs in the sandbox of its caller's connection,
 * where not even native code can reach another client's memory. All servers of a process share its few keys and keep
 * them, since threads may be in handlers when a server ends.
 */
final class HandlerWalls {
    private static final Logger LOG = LoggerFactory.getLogger(HandlerWalls.class);
    private static final HandlerWalls NONE = new HandlerWalls(Optional.empty());
    private static ProtectionKeys ofProcess;

    private final Optional<ProtectionKeys> keys;

    private HandlerWalls(Optional<ProtectionKeys> keys) {
        this.keys = keys;
    }

    /**
     * The walls that a server's settings request.
     *
     * @throws dev.rackcall.rpc.RpcException FAILED_PRECONDITION if keys are required and unavailable
     */
    static HandlerWalls of(ServerSpec spec) {
        Optional<Wish> wish = spec.trust().sandbox().protectionKeys();
        if (wish.isEmpty()) {
            return NONE;
        }
        try {
            if (spec.threads().dispatch().kind() == Dispatch.Kind.VIRTUAL_THREADS) {
                throw new UnsupportedFeatureException(
                        "A virtual thread changes the thread of the system that it runs on, to which keys apply; use"
                                + " Dispatch.direct() or Dispatch.workers(n).");
            }
            return with(ofProcess());
        } catch (UnsupportedFeatureException e) {
            if (wish.get() == Wish.REQUIRE) {
                throw Status.Code.FAILED_PRECONDITION
                        .with("handlers cannot run behind protection keys, as required: %s", e.getMessage())
                        .asException(e);
            }
            LOG.info("handlers run without protection keys: {}", e.getMessage());
            return NONE;
        }
    }

    static HandlerWalls with(ProtectionKeys keys) {
        return new HandlerWalls(Optional.of(keys));
    }

    private static synchronized ProtectionKeys ofProcess() {
        if (ofProcess == null) {
            ofProcess = ProtectionKeys.open();
        }
        return ofProcess;
    }

    /** The wall around a connection's memory, which stays mapped until {@link Wall#close}. */
    Wall around(MemorySegment memory) {
        try {
            return keys.map(present -> new Wall(present, present.add(memory))).orElse(Wall.NONE);
        } catch (IllegalStateException e) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with("no more clients can be served behind protection keys: %s", e.getMessage())
                    .asException(e);
        }
    }

    /** Interceptors and handler of one call. */
    interface Handling {
        void run() throws Exception;
    }

    /** The sandbox of one connection's handlers. */
    static final class Wall {
        static final Wall NONE = new Wall(null, null);
        private static final int NOT_ENTERED = -1;

        /** Null, as the region, if there is no wall. */
        private final ProtectionKeys keys;

        private final ProtectionKeys.Region region;

        private Wall(ProtectionKeys keys, ProtectionKeys.Region region) {
            this.keys = keys;
            this.region = region;
        }

        /** Whether the handlers have a wall, so that {@link #run} has to run them. */
        boolean isClosed() {
            return region != null;
        }

        /**
         * Runs interceptors and handler in the sandbox of the caller's connection.
         *
         * @throws SandboxException if they reached for another connection's memory
         */
        void run(Handling handling) throws Exception {
            int before = enter();
            try {
                handling.run();
                StoreBarrier.now();
            } catch (InternalError e) {
                throw region.explain(e);
            } finally {
                region.leave(before);
            }
        }

        private int enter() {
            try {
                return region.enter();
            } catch (IllegalStateException e) {
                throw Status.Code.RESOURCE_EXHAUSTED.with("%s", e.getMessage()).asException(e);
            }
        }

        /**
         * Lets the calling thread, which may be in another connection's sandbox, answer a call of this connection.
         *
         * @return the argument for {@link #lower}
         */
        int lift() {
            return keys == null ? NOT_ENTERED : keys.lift();
        }

        void lower(int before) {
            if (keys != null) {
                keys.lower(before);
            }
        }

        /** Called before the memory is unmapped, when no handler runs any more. */
        void close() {
            if (region != null) {
                region.close();
            }
        }
    }
}
