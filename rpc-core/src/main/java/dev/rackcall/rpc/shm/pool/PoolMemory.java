package dev.rackcall.rpc.shm.pool;

import dev.rackcall.rpc.shm.notes.PoolNote;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.server.SharedPool;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.pool.PoolCommons;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The memory of one channel's clients in a pool. A connection's window is freed once both ends have left it, or the
 * client's host is gone; otherwise it stays taken. Thread-safe.
 */
final class PoolMemory {
    private static final int SHARE = 64;
    private static final long LEAVE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final PoolCommons pool;
    private final PoolHandshake.Window shared;
    private final List<Tenant> leaving = new ArrayList<>();

    /** @param sharedQuota bytes of the channel's shared arena */
    PoolMemory(PoolCommons pool, long sharedQuota) {
        this.pool = pool;
        this.shared = take(pool, most(sharedQuota));
    }

    /** Bytes of an arena for which {@code wished} bytes were requested. */
    long most(long wished) {
        return Math.min(wished, pool.memory().byteSize() / SHARE) & -ControlLayout.PAGE;
    }

    private static PoolHandshake.Window take(PoolCommons pool, long bytes) {
        long place = pool.takeWindow(bytes);
        return new PoolHandshake.Window(place, pool.windowBytes(bytes));
    }

    PoolHandshake.Window shared() {
        return shared;
    }

    /** The channel's shared arena, all zero. */
    SharedFile sharedFile() {
        SharedFile file = pool.window(shared.place(), shared.bytes());
        try (Mapping mapping = file.map()) {
            mapping.memory().fill((byte) 0);
            return file;
        } catch (RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    /** A client's place in this memory. */
    final class Tenant {
        private final int host;
        private final long boot;
        private PoolHandshake.Window window = PoolHandshake.Window.NONE;
        private PoolBell bell;
        private Optional<SharedFile> note = Optional.empty();
        /**
         * Never reset: once the client has left, the window may be reused, and its words no longer describe this
         * client.
         */
        private volatile boolean left;

        private Tenant(int host, long boot) {
            this.host = host;
            this.boot = boot;
        }

        /**
         * Takes a window of {@code bytes} and a bell; the caller owns the returned file, and closes it after
         * {@link #leave} or {@link #discard}.
         */
        SharedFile take(String channel, long bytes, int slots) {
            window = PoolMemory.take(pool, bytes + BellLayout.BYTES);
            MemorySegment memory = pool.memory().asSlice(window.place(), window.bytes());
            memory.asSlice(0, ControlLayout.controlBytes(slots)).fill((byte) 0);
            MemorySegment page = bellPage(pool, window);
            page.fill((byte) 0);
            bell = PoolBell.of(page, true);
            SharedFile file = pool.window(window.place(), window.bytes());
            try {
                note = Optional.of(PoolNote.write(channel, true, file, window.place()));
                return file;
            } catch (RuntimeException | Error e) {
                file.close();
                throw e;
            }
        }

        PoolHandshake.Window window() {
            return window;
        }

        PoolBell bell() {
            return bell;
        }

        /** Whether the client has stopped using its memory for good. */
        boolean hasLeft() {
            if (isPoolOpen() && !left && ((bell != null && bell.otherHasLeft()) || !pool.isThere(host, boot))) {
                left = true;
            }
            return left;
        }

        /** Records that the server no longer uses the window. */
        void leave() {
            note.ifPresent(SharedFile::close);
            synchronized (leaving) {
                leaving.add(this);
            }
            reclaim();
        }

        /** Frees everything at once, because the client was not told of the window. */
        void discard() {
            left = true;
            note.ifPresent(SharedFile::close);
            if (bell != null) {
                bell.close();
            }
            if (window.bytes() != 0) {
                pool.give(window.place());
            }
        }
    }

    /** A place for the client that said hello. */
    Tenant admit(PoolHandshake knock) {
        return new Tenant(knock.host(), knock.boot());
    }

    /** Whether a window from a peer lies in the pool, and has room for a bell. */
    static boolean isIn(PoolCommons pool, PoolHandshake.Window window) {
        return window.place() > 0
                && window.bytes() >= BellLayout.BYTES
                && window.bytes() <= pool.memory().byteSize()
                && window.place() <= pool.memory().byteSize() - window.bytes();
    }

    /** The last page of a connection's window. */
    static MemorySegment bellPage(PoolCommons pool, PoolHandshake.Window window) {
        return pool.memory().asSlice(window.place() + window.bytes() - BellLayout.BYTES, BellLayout.BYTES);
    }

    /**
     * Whether the pool is open. If it was closed before its server, leaving clients cannot be seen, and their memory
     * stays taken until this host is reclaimed.
     */
    private boolean isPoolOpen() {
        return pool.memory().scope().isAlive();
    }

    /** Frees windows that are no longer used. Called periodically. */
    void reclaim() {
        synchronized (leaving) {
            leaving.removeIf(tenant -> {
                boolean over = isPoolOpen() && tenant.hasLeft();
                if (over) {
                    pool.give(tenant.window().place());
                }
                return over;
            });
        }
    }

    /** Frees the shared arena, which no client was told of. */
    void discard() {
        pool.give(shared.place());
    }

    /**
     * Gives clients, which were notified of the end, a second to leave. Memory that they still use after that stays
     * taken.
     */
    void close(SharedPool arena) {
        long end = System.nanoTime() + LEAVE_NANOS;
        while (!isDeserted(arena) && System.nanoTime() - end < 0) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        if (isDeserted(arena)) {
            pool.give(shared.place());
        }
    }

    private boolean isDeserted(SharedPool arena) {
        reclaim();
        synchronized (leaving) {
            return leaving.isEmpty() && arena.isDeserted();
        }
    }
}
