package dev.rackcall.rpc.shm.pool;

import dev.rackcall.rpc.shm.protocol.Bell;
import dev.rackcall.rpc.spi.LimitedLog;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.socket.EventPoll;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongConsumer;

/**
 * The bell of a connection between hosts that share only memory: words in that memory. Each process's {@link
 * PoolWatcher} reads the other end's words and forwards rings through a socket pair, on which pollers and reactors
 * sleep.
 *
 * <p>Life cannot be proven here. An end counts as gone if its watcher has not moved its beat for {@link #LEASE_NANOS},
 * and the connection ends. This frees no memory, so an end that was only slow does no harm when it resumes: it finds
 * the connection ended.
 */
final class PoolBell implements Bell {
    /** How long an end's beat may be unchanged. */
    static final long LEASE_NANOS = TimeUnit.SECONDS.toNanos(5);
    /**
     * Maximum silence that one check adds: a process that was stopped could not observe the other end in the meantime.
     */
    private static final long MOST_PER_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final MemorySegment mine;
    private final MemorySegment theirs;
    private final UnixSocket inner;
    private final UnixSocket outer;

    // As of the watcher's last look.
    private long seenRings;
    private long seenBeat;
    private long silentNanos;
    private long lastLook = System.nanoTime();

    private volatile boolean gone;
    private volatile boolean closed;

    private PoolBell(MemorySegment mine, MemorySegment theirs, UnixSocket.Pair pair) {
        this.mine = mine;
        this.theirs = theirs;
        this.inner = pair.left();
        this.outer = pair.right();
    }

    /**
     * One end's bell, watched from now on.
     *
     * @param page {@link BellLayout}, all zero before the first end has its bell
     */
    static PoolBell of(MemorySegment page, boolean isServer) {
        MemorySegment server = BellLayout.half(page, true);
        MemorySegment client = BellLayout.half(page, false);
        PoolBell bell = new PoolBell(isServer ? server : client, isServer ? client : server, UnixSocket.pair());
        try {
            PoolWatcher.shared().add(bell);
        } catch (RuntimeException | Error e) {
            bell.inner.close();
            bell.outer.close();
            throw e;
        }
        return bell;
    }

    /** Marks the client as left when it could not create its end. */
    static void decline(MemorySegment page) {
        BellLayout.stage(BellLayout.half(page, false), BellLayout.LEFT);
    }

    @Override
    public boolean watch(EventPoll poll, long tag) {
        return outer.watch(poll, tag);
    }

    @Override
    public void unwatch(EventPoll poll) {
        outer.unwatch(poll);
    }

    /**
     * Synchronized, so that nothing is written after {@link #close} has returned: the page may be reused once both ends
     * have left it.
     */
    @Override
    public synchronized boolean ring() {
        if (closed || gone) {
            return false;
        }
        try {
            BellLayout.ring(mine);
            return true;
        } catch (RuntimeException e) {
            loseUnlessAlive(e);
            return false;
        }
    }

    @Override
    public synchronized boolean tell(long number) {
        if (closed || gone) {
            return false;
        }
        try {
            boolean posted = BellLayout.post(mine, theirs, number);
            if (posted) {
                BellLayout.ring(mine);
            }
            return posted;
        } catch (RuntimeException e) {
            loseUnlessAlive(e);
            return false;
        }
    }

    /**
     * Ends the connection if its memory was closed first; otherwise rethrows. The JVM may report closed memory as a
     * wrong thread.
     */
    private void loseUnlessAlive(RuntimeException thrown) {
        if (mine.scope().isAlive() && theirs.scope().isAlive()) {
            throw thrown;
        }
        lose();
    }

    @Override
    public synchronized int drain(LongConsumer numbers) {
        if (closed) {
            return -1;
        }
        int rings = outer.drain();
        try {
            int taken = BellLayout.take(mine, theirs, numbers);
            return rings < 0 && taken > 0 ? taken : rings;
        } catch (RuntimeException e) {
            loseUnlessAlive(e);
            return -1;
        }
    }

    /** Reads the other end's words, and moves this one's beat; returns whether anything was new. Watcher only. */
    synchronized boolean look(long now) {
        if (closed || gone) {
            return false;
        }
        BellLayout.beat(mine);
        long rings = BellLayout.rings(theirs);
        boolean news = rings != seenRings;
        if (news) {
            seenRings = rings;
            inner.ring();
        }
        if (hasLeft(now)) {
            gone = true;
            // The outer end becomes readable for good.
            inner.close();
        }
        return news;
    }

    private boolean hasLeft(long now) {
        long beat = BellLayout.beats(theirs);
        silentNanos = beat != seenBeat ? 0 : silentNanos + Math.min(now - lastLook, MOST_PER_LOOK_NANOS);
        seenBeat = beat;
        lastLook = now;
        return silentNanos > LEASE_NANOS || BellLayout.stage(theirs) != BellLayout.OPEN;
    }

    /** The memory was unmapped, or the pool closed, under the watcher. */
    synchronized void lose() {
        if (!closed && !gone) {
            gone = true;
            inner.close();
        }
    }

    @Override
    public void close() {
        try {
            end();
        } finally {
            PoolWatcher.shared().remove(this);
        }
    }

    private synchronized void end() {
        if (closed) {
            return;
        }
        closed = true;
        try {
            BellLayout.stage(mine, BellLayout.ENDED);
        } catch (RuntimeException e) {
            // If the pool is closed, the other end will miss the beat.
            loseUnlessAlive(e);
        } finally {
            inner.close();
            outer.close();
        }
    }

    /**
     * This end no longer uses the connection's memory, except for its half of the bell's page. Called after {@link
     * #close}.
     */
    void leave() {
        try {
            BellLayout.stage(mine, BellLayout.LEFT);
        } catch (RuntimeException e) {
            // If the pool is closed, this end's memory stays taken until its host is reclaimed.
            loseUnlessAlive(e);
        }
    }

    /** Whether the other end has {@link #leave left}. */
    boolean otherHasLeft() {
        return BellLayout.stage(theirs) == BellLayout.LEFT;
    }

    /** For logs. */
    @Override
    public String toString() {
        try {
            return "bell " + (closed ? "closed" : gone ? "lost" : "open") + ", " + BellLayout.rings(mine)
                    + " rings sent";
        } catch (IllegalStateException | WrongThreadException | OsException e) {
            return "bell without memory";
        }
    }

    /**
     * The thread of a process that reads the words of its {@link PoolBell}s, since no kernel reports another host's
     * stores. It looks every 100 us while there is news, and otherwise every millisecond, which bounds a sleeper's wait
     * for a ring. It ends with the last bell.
     */
    static final class PoolWatcher {
        private static final LimitedLog LOG = LimitedLog.of(PoolWatcher.class);
        private static final long BUSY_NANOS = TimeUnit.MICROSECONDS.toNanos(100);
        private static final long IDLE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
        /** Number of checks without news before the watcher slows down. */
        private static final int PATIENCE = 100;

        private static final PoolWatcher SHARED = new PoolWatcher();

        private final List<PoolBell> bells = new CopyOnWriteArrayList<>();
        private boolean running;

        private PoolWatcher() {}

        static PoolWatcher shared() {
            return SHARED;
        }

        synchronized void add(PoolBell bell) {
            if (!running) {
                Thread thread = new Thread(this::run, "rackcall-pool-watcher");
                thread.setDaemon(true);
                thread.start();
                running = true;
            }
            // The thread sees the bell after this method has returned.
            bells.add(bell);
        }

        /**
         * Removes a bell. A closed bell is only looked at under its lock, so the watcher no longer touches its words.
         */
        void remove(PoolBell bell) {
            bells.remove(bell);
        }

        private void run() {
            int quiet = 0;
            while (goesOn()) {
                boolean news = false;
                for (PoolBell bell : bells) {
                    news |= look(bell);
                }
                quiet = news ? 0 : Math.min(quiet + 1, PATIENCE);
                LockSupport.parkNanos(quiet < PATIENCE ? BUSY_NANOS : IDLE_NANOS);
            }
        }

        private boolean look(PoolBell bell) {
            try {
                return bell.look(System.nanoTime());
            } catch (IllegalStateException | WrongThreadException e) {
                // The JVM reports a wrong thread for memory that is being closed.
                LOG.debug("a connection's pool was closed before the connection", e);
                bell.lose();
                return false;
            } catch (RuntimeException | Error e) {
                // All connections of this process through pools depend on this thread.
                LOG.error("a connection through a pool failed; it ends", e);
                bell.lose();
                bells.remove(bell);
                return false;
            }
        }

        private synchronized boolean goesOn() {
            running = !bells.isEmpty();
            return running;
        }
    }
}
