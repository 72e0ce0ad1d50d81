package dev.rackcall.rpc.shm.pool;

import dev.rackcall.rpc.shm.protocol.Bell;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;

/**
 * The bell of a connection between hosts that share memory and nothing else: words in that memory. Each side's {@link PoolWatcher} looks at the other's words and
 * passes on what it sees through a socket pair of its own process, which is what pollers and reactors sleep on.
 *
 * <p>Life cannot be proven here. A side whose watcher has not moved its beat for {@link #LEASE_NANOS} counts as gone and its connection ends; that frees no
 * memory, so a side that was only slow does no harm when it goes on: it finds the connection ended.
 */
final class PoolBell implements Bell {
    /** As long as a side's beat may stand still while the other one looks. */
    static final long LEASE_NANOS = TimeUnit.SECONDS.toNanos(5);
    /** What one look counts at most: whoever was stopped himself has seen nothing of the other in that time. */
    private static final long MOST_PER_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private final MemorySegment mine;
    private final MemorySegment theirs;
    private final UnixSocket inner;
    private final UnixSocket outer;

    // Of the watcher's last look.
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
     * One side's bell, watched from now on.
     *
     * @param page {@link BellLayout}, all zero before the first side has its bell
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

    /** Says for a client that cannot have a bell, nor what else it needs for the connection, that it has left. */
    static void decline(MemorySegment page) {
        BellLayout.stage(BellLayout.half(page, false), BellLayout.LEFT);
    }

    @Override
    public int fd() {
        return outer.fd();
    }

    /** Under the lock: once {@link #close} has returned nothing is written, since the page is somebody else's when both sides have left it. */
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

    /** The pool was closed before the connection: this is its end. While that happens the JVM may also say that this is the wrong thread. */
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

    /** Looks at the other side's words, and moves this one's beat. Returns whether something was new. Watcher only. */
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
            // The outer end becomes readable, and says so for ever.
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
            // If the pool is closed already the other side will miss the beat.
            loseUnlessAlive(e);
        } finally {
            inner.close();
            outer.close();
        }
    }

    /** This side does not use the connection's memory any more, but for its half of the bell's page. After {@link #close}. */
    void leave() {
        try {
            BellLayout.stage(mine, BellLayout.LEFT);
        } catch (RuntimeException e) {
            // If the pool is closed, what is left of this side stays until its host is reclaimed.
            loseUnlessAlive(e);
        }
    }

    /** Whether the other side has {@link #leave left}. */
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
}
