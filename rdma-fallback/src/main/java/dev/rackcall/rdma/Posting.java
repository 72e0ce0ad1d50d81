package dev.rackcall.rdma;

import dev.rackcall.rdma.sending.PeerMemory;
import dev.rackcall.rdma.sending.Sending;
import dev.rackcall.verbs.WorkRequest;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** Sends over a queue pair: a publication is a WRITE that takes a receive request of the peer's, a number that is told a SEND. What finds no room is posted by a thread of its own. */
final class Posting extends Sending {
    private static final int BATCH = 8;
    /** How long an end waits for what was posted last to arrive. */
    private static final long LAST_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** So often a request that tries the way is sent anew, and how many may be on theirs: a device may lose the completion of one. */
    private static final long TRY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final int TRIES = 32;
    private static final long TRY_PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(20);
    /** Between two looks for room. */
    private static final long ROOM_PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    private final RdmaCarrier carrier;
    private final RdmaEnd end;
    /** A thread of its own looks for room. With the lock. */
    private boolean draining;

    Posting(RdmaCarrier carrier, RdmaEnd end) {
        super(carrier, end, new PairQueue(end), BATCH);
        this.carrier = carrier;
        this.end = end;
    }

    /** Where to write. Before anything is posted. */
    void connect(PeerGreeting peer) {
        aim(new PeerMemory(peer.address(), peer.key(), peer.bytes()));
    }

    /**
     * Whether the peer's device acknowledges a request that changes nothing. That two ends have met over TCP does not say so. To be called once, before anything else is posted.
     *
     * @return false if none was acknowledged within that time, or the connection has ended
     */
    boolean isAcknowledged(long nanos) {
        long begin = System.nanoTime();
        int tries = 0;
        while (!isDone(1)) {
            long waited = System.nanoTime() - begin;
            if (waited >= nanos || carrier.hasEnded()) {
                return false;
            }
            if (tries < TRIES && waited >= tries * TRY_NANOS) {
                tryOnce();
                tries++;
            }
            LockSupport.parkNanos(TRY_PAUSE_NANOS);
        }
        return true;
    }

    private void tryOnce() {
        locked(() -> out.isAlive() && addNothing() && out.flush());
    }

    /** A request that changes nothing, and whose end is known. */
    private boolean addNothing() {
        return out.add(requests.write(0, 0).from(end.region, 0, 0).signaled());
    }

    @Override
    public boolean publish(long offset, long value, boolean urgent) {
        lock.lock();
        try {
            if (!out.isAlive()) {
                return false;
            }
            WorkRequest word = requests.announce(offset, value);
            return out.add(urgent ? word.solicited() : word) && out.flush();
        } catch (RuntimeException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    @Override
    public boolean tell(long number) {
        lock.lock();
        try {
            return out.isAlive() && out.add(out.next().send().inline(number).solicited()) && out.flush();
        } catch (RuntimeException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    // ---- what has found no room

    @Override
    protected boolean wantsHelp() {
        boolean wants = !draining && out.isAlive() && out.isHeldUp();
        draining |= wants;
        return wants;
    }

    @Override
    protected void askForHelp() {
        boolean runs = false;
        try {
            // Not virtual: virtual threads that spin for an answer may have all processors, and wait for this one.
            Thread.ofPlatform().daemon().name("rackcall-rdma-post").start(this::drain);
            runs = true;
        } finally {
            if (!runs) {
                // A host without threads to spare: whoever posts next asks again.
                stopDraining();
            }
        }
    }

    private void stopDraining() {
        lock.lock();
        try {
            draining = false;
        } finally {
            lock.unlock();
        }
    }

    private void drain() {
        boolean more = true;
        while (more) {
            lock.lock();
            try {
                out.drain(System.nanoTime());
            } catch (RuntimeException | Error e) {
                carrier.end("posting failed: " + e);
            } finally {
                more = out.isAlive() && out.isHeldUp();
                draining = more;
                lock.unlock();
            }
            if (carrier.hasEnded()) {
                carrier.tellEnd();
            }
            LockSupport.parkNanos(ROOM_PAUSE_NANOS);
        }
    }

    // ---- the end

    @Override
    public void close() {
        lock.lock();
        try {
            if (requests.areAimed() && out.isAlive() && addNothing()) {
                out.letArrive(LAST_NANOS);
            }
        } catch (RuntimeException e) {
            failed(e);
        } finally {
            out.close();
            lock.unlock();
        }
    }
}
