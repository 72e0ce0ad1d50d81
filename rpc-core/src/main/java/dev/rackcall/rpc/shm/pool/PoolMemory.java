package dev.rackcall.rpc.shm.pool;

import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.server.SharedPool;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.pool.PoolCommons;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * What the clients of one channel get of a pool. A connection's window is given back once both sides have left it, or the client's host is gone; what a client
 * never leaves stays taken until then. Thread-safe.
 */
final class PoolMemory {
    private static final int SHARE = 64;
    private static final long LEAVE_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    private final PoolCommons pool;
    private final PoolHandshake.Window shared;
    private final List<Tenant> leaving = new ArrayList<>();

    /** @param sharedQuota bytes for the arena that all clients share */
    PoolMemory(PoolCommons pool, long sharedQuota) {
        this.pool = pool;
        this.shared = take(pool, most(sharedQuota));
    }

    /** What an arena may have of the pool if so much is wished for. */
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

    /** The memory of the arena that all clients share, all zero. */
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
        /** Never taken back: once it is known, the window may be given to somebody else, and its words say nothing of this client any more. */
        private volatile boolean left;

        private Tenant(int host, long boot) {
            this.host = host;
            this.boot = boot;
        }

        /** Takes a window for {@code bytes} and a bell; returns the window's file, which is the caller's. */
        SharedFile take(long bytes, int slots) {
            window = PoolMemory.take(pool, bytes + BellLayout.BYTES);
            MemorySegment memory = pool.memory().asSlice(window.place(), window.bytes());
            memory.asSlice(0, ControlLayout.controlBytes(slots)).fill((byte) 0);
            MemorySegment page = bellPage(pool, window);
            page.fill((byte) 0);
            bell = PoolBell.of(page, true);
            return pool.window(window.place(), window.bytes());
        }

        PoolHandshake.Window window() {
            return window;
        }

        PoolBell bell() {
            return bell;
        }

        /** Whether the client does not use its memory any more, and never will. */
        boolean hasLeft() {
            if (isPoolOpen() && !left && ((bell != null && bell.otherHasLeft()) || !pool.isThere(host, boot))) {
                left = true;
            }
            return left;
        }

        /** The server does not use it any more. */
        void leave() {
            synchronized (leaving) {
                leaving.add(this);
            }
            reclaim();
        }

        /** Nobody has been told of it: gives everything back at once. */
        void discard() {
            left = true;
            if (bell != null) {
                bell.close();
            }
            if (window.bytes() != 0) {
                pool.give(window.place());
            }
        }
    }

    /** A place for the client that knocks. */
    Tenant admit(PoolHandshake knock) {
        return new Tenant(knock.host(), knock.boot());
    }

    /** Whether a window that somebody else names lies in the pool, and has room for a bell. */
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

    /** If it was closed before its server, nobody can be seen to leave, and what is taken stays so until this host is reclaimed. */
    private boolean isPoolOpen() {
        return pool.memory().scope().isAlive();
    }

    /** Gives back what nobody uses any more. To be called now and then. */
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

    /** Gives back what nobody has been told of. */
    void discard() {
        pool.give(shared.place());
    }

    /** Gives clients, which have been told of the end, a second to leave; then what they still use stays taken. */
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
