package dev.rackcall.rdma;

import dev.rackcall.shm.os.SharedFile;
import dev.rackcall.verbs.Errno;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.WorkRequest;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The sending half of a carrier: requests in order, by whichever thread, under one lock. What needs no haste waits for what does, and both are posted at once: that is one
 * system call of the software device, and one doorbell of others. Allocates nothing once it has a shadow, and as long as the peer takes what comes.
 */
final class Posting implements Shadow.Pieces {
    private static final int MAX_PIECE = 1 << 20;
    /** How long an end waits for what was posted last to arrive. */
    private static final long LAST_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** So often a request that tries the way is sent anew, and how many may be on theirs: a device may lose the completion of one. */
    private static final long TRY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final int TRIES = 32;
    private static final long TRY_PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(20);

    /** So often whoever fetches looks before he pauses between his looks: a peer that stands still does not take a processor. */
    private static final int FETCH_LOOKS = 5000;

    private static final long FETCH_PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    /** Stands for a request that was not posted. */
    private static final long FAILED = -1;

    private final RdmaCarrier carrier;
    private final RdmaEnd end;
    private final ReentrantLock lock = new ReentrantLock();
    private final Outgoing out;
    private long carriedBytes;
    private long peerAddress;
    private int peerKey;
    private long peerBytes;
    private boolean connected;
    /** Null until something is sent from it. */
    private Shadow shadow;

    private MemoryRegion shadowRegion;
    /** Null until something is to be fetched. */
    private MemoryRegion areaRegion;

    private long fetchedBytes;

    Posting(RdmaCarrier carrier, RdmaEnd end) {
        this.carrier = carrier;
        this.end = end;
        this.out = new Outgoing(carrier, end, lock);
    }

    /** Where to write. Before anything is posted. */
    void connect(PeerGreeting peer) {
        lock.lock();
        try {
            peerAddress = peer.address();
            peerKey = peer.key();
            peerBytes = peer.bytes();
            connected = true;
        } finally {
            lock.unlock();
        }
    }

    /**
     * Whether the peer's device acknowledges a request that changes nothing. That two ends have met over TCP does not say so. To be called once, before anything else is posted.
     *
     * @return false if none was acknowledged within that time, or the connection has ended
     */
    boolean isAcknowledged(long nanos) {
        long begin = System.nanoTime();
        int tries = 0;
        while (!isAcknowledgedNow()) {
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

    private boolean isAcknowledgedNow() {
        lock.lock();
        try {
            out.reap();
            return out.completed() > 0;
        } catch (VerbsException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    private void tryOnce() {
        lock.lock();
        try {
            if (out.isAlive() && out.add(write(0, 0).from(end.region, 0, 0).signaled())) {
                out.flush();
            }
        } catch (VerbsException e) {
            failed(e);
        } finally {
            leave();
        }
    }

    // ---- what can be posted; false if the peer is gone

    boolean carry(long offset, long length) {
        lock.lock();
        try {
            return out.isAlive() && pieces(end.region, offset, length);
        } catch (VerbsException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    boolean carryChanged(long offset, long length) {
        lock.lock();
        try {
            if (!out.isAlive()) {
                return false;
            }
            makeShadow();
            long start = offset & -Long.BYTES;
            long room = end.memory.byteSize() - start;
            carriedBytes += shadow.update(start, Math.min(length + (offset - start), room), this);
            return out.isAlive();
        } catch (VerbsException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    boolean store(long offset, long value) {
        lock.lock();
        try {
            return out.isAlive() && out.add(write(offset, Long.BYTES).inline(value));
        } catch (VerbsException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    boolean publish(long offset, long value, boolean urgent) {
        lock.lock();
        try {
            if (!out.isAlive()) {
                return false;
            }
            check(offset, Long.BYTES);
            WorkRequest word = out.next()
                    .writeWithImmediate(peerAddress + offset, peerKey, 0)
                    .inline(value);
            return out.add(urgent ? word.solicited() : word) && out.flush();
        } catch (VerbsException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    boolean tell(long number) {
        lock.lock();
        try {
            return out.isAlive() && out.add(out.next().send().inline(number).solicited()) && out.flush();
        } catch (VerbsException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    boolean flush() {
        lock.lock();
        try {
            return out.isAlive() && out.flush();
        } catch (VerbsException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    // ---- fetching

    void fetchInto(SharedFile area) {
        lock.lock();
        try {
            if (out.isAlive()) {
                areaRegion = end.own(area);
            }
        } catch (VerbsException e) {
            failed(e);
        } finally {
            leave();
        }
    }

    boolean fetch(long offset, long areaOffset, long length, long deadline) {
        long last = request(offset, areaOffset, length);
        int looks = 0;
        while (last != FAILED && !hasCompleted(last)) {
            if (carrier.hasEnded() || System.nanoTime() - deadline >= 0) {
                return false;
            }
            carrier.look();
            if (++looks < FETCH_LOOKS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(FETCH_PAUSE_NANOS);
            }
        }
        return last != FAILED && !carrier.hasEnded();
    }

    /** Returns the number of the last READ, or {@link #FAILED}. */
    private long request(long offset, long areaOffset, long length) {
        lock.lock();
        try {
            for (long done = 0; done < length && out.isAlive(); done += MAX_PIECE) {
                int piece = (int) Math.min(MAX_PIECE, length - done);
                check(offset + done, piece);
                out.add(out.next()
                        .read(peerAddress + offset + done, peerKey)
                        .from(areaRegion, areaOffset + done, piece)
                        .signaled());
            }
            fetchedBytes += length;
            return out.isAlive() && out.flush() ? out.added() : FAILED;
        } catch (VerbsException e) {
            failed(e);
            return FAILED;
        } finally {
            leave();
        }
    }

    private boolean hasCompleted(long request) {
        lock.lock();
        try {
            if (out.isAlive()) {
                out.reap();
            }
            return out.completed() >= request;
        } catch (VerbsException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    long fetchedBytes() {
        lock.lock();
        try {
            return fetchedBytes;
        } finally {
            lock.unlock();
        }
    }

    /** Bytes that {@link #carryChanged} has found changed and sent. */
    long carriedBytes() {
        lock.lock();
        try {
            return carriedBytes;
        } finally {
            lock.unlock();
        }
    }

    /** The queue pair has gone to the error state. */
    private boolean failed(VerbsException e) {
        carrier.end("posting failed: " + e.getMessage());
        return false;
    }

    private void leave() {
        lock.unlock();
        if (carrier.hasEnded()) {
            carrier.tellEnd();
        }
    }

    // ---- with the lock

    /** Both ends begin with memory that is all zero, as a new file is. */
    private void makeShadow() {
        if (shadow == null) {
            shadowRegion = end.twin();
            shadow = Shadow.of(end.memory, shadowRegion.memory());
        }
    }

    @Override
    public void add(long offset, long length) {
        // A peer that is gone is noticed by whoever looks for changes.
        if (out.isAlive() && !pieces(shadowRegion, offset, length)) {
            assert !out.isAlive();
        }
    }

    private boolean pieces(MemoryRegion from, long offset, long length) {
        boolean alive = true;
        for (long done = 0; done < length && alive; done += MAX_PIECE) {
            int piece = (int) Math.min(MAX_PIECE, length - done);
            alive = out.add(write(offset + done, piece).from(from, offset + done, piece));
        }
        return alive;
    }

    private WorkRequest write(long offset, long length) {
        check(offset, length);
        return out.next().write(peerAddress + offset, peerKey);
    }

    private void check(long offset, long length) {
        long bytes = end.memory.byteSize();
        if (offset < 0 || length < 0 || offset > bytes - length) {
            throw new IndexOutOfBoundsException(
                    length + " bytes at " + offset + " are not in memory of " + bytes + " bytes");
        }
        if (offset > peerBytes - length) {
            throw new VerbsException(
                    "writing " + length + " bytes at " + offset,
                    Errno.EINVAL,
                    "the peer has only " + peerBytes + " bytes, fewer than the connection needs");
        }
    }

    // ---- the end

    /** Posts nothing any more. What was posted before is still to arrive: a last answer, a call that wants none. */
    void close() {
        lock.lock();
        try {
            if (connected && out.isAlive()) {
                letArrive();
            }
        } catch (VerbsException e) {
            failed(e);
        } finally {
            out.close();
            lock.unlock();
        }
    }

    private void letArrive() {
        if (out.add(write(0, 0).from(end.region, 0, 0).signaled())) {
            out.letArrive(LAST_NANOS);
        }
    }
}
