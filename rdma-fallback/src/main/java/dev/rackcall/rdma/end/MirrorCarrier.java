package dev.rackcall.rdma.end;

import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.VerbsException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * One end of a connection whose ends mirror each other. Sends WRITEs and READs in order, from any thread, under one
 * lock. Subclasses decide how the peer is notified of a publication, and how its messages arrive.
 *
 * <p>Every method of a subclass that posts takes the {@link #lock}, passes a {@link RuntimeException} to {@link
 * #failed} and calls {@link #leave} last. Posting allocates nothing once the connection has a shadow and the peer keeps
 * up.
 *
 * <p>Memory is registered without the lock: an agent process may take long to clear it or to answer. Only the threads
 * that need the memory wait.
 */
public abstract class MirrorCarrier implements Carrier {
    /** The number of a request that was not posted. */
    protected static final long FAILED = -1;

    /** A fetch polls this often before it pauses between polls, so that a stopped peer does not cost a processor. */
    private static final int FETCH_LOOKS = 5000;

    private static final long FETCH_PAUSE_NANOS = 50_000;

    /** Guards all but registrations. */
    protected final ReentrantLock lock = new ReentrantLock();

    protected final PendingRequests out;
    protected final MemoryRequests requests;
    protected final Ending ending;
    private final EndMemory memory;
    private final RequestQueue queue;
    /** Held while the shadow is made; taken before {@link #lock}. */
    private final ReentrantLock making = new ReentrantLock();
    /** Null until something is sent from it. Written under {@link #making}, read before the lock is taken. */
    private volatile RegisteredShadow shadow;
    /** Null until something is to be fetched. */
    private MemoryRegion areaRegion;

    private long carriedBytes;
    private long fetchedBytes;
    private final AtomicBoolean closing = new AtomicBoolean();
    /** Nothing is sent any more. */
    private volatile boolean closed;

    /** The copy of the connection's memory that the peer has, from which the device sends. */
    private record RegisteredShadow(MemoryRegion region, Shadow changes) {}

    /**
     * An end that is not connected yet.
     *
     * @param batch how many requests are posted together unless one is urgent; a divisor of 8
     * @param peer the peer's address, for the log
     */
    protected MirrorCarrier(EndMemory memory, RequestQueue queue, int batch, Supplier<String> peer) {
        this.memory = memory;
        this.queue = queue;
        ending = new Ending(peer);
        out = new PendingRequests(ending, queue, batch);
        requests = new MemoryRequests(out, memory.region().byteSize());
    }

    /** Where to write. Called before anything is posted. */
    protected final void aim(PeerMemory target) {
        lock.lock();
        try {
            requests.aim(target);
        } finally {
            lock.unlock();
        }
    }

    // ---- posting

    @Override
    public final boolean carry(long offset, long length) {
        lock.lock();
        try {
            return out.isAlive() && requests.carry(memory.region(), offset, length);
        } catch (RuntimeException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    @Override
    public final boolean carryChanged(long offset, long length) {
        if (shadow == null) {
            makeShadow();
        }
        lock.lock();
        try {
            if (!out.isAlive()) {
                return false;
            }
            carriedBytes += carryFrom(shadow, offset, length);
            return out.isAlive();
        } catch (RuntimeException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    /** Posts those of these bytes that the peer lacks; returns their number. */
    private long carryFrom(RegisteredShadow from, long offset, long length) {
        long start = offset & -Long.BYTES;
        long room = from.region().byteSize() - start;
        return from.changes().update(start, Math.min(length + (offset - start), room), requests);
    }

    @Override
    public final boolean store(long offset, long value) {
        lock.lock();
        try {
            return out.isAlive() && out.add(requests.write(offset, Long.BYTES).inline(value));
        } catch (RuntimeException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    @Override
    public final boolean publish(long offset, long value) {
        return publish(offset, value, false);
    }

    @Override
    public final boolean proclaim(long offset, long value) {
        return publish(offset, value, true);
    }

    /** @param urgent whether to notify the peer even if none of its threads spins or listens */
    protected abstract boolean publish(long offset, long value, boolean urgent);

    @Override
    public final boolean flush() {
        lock.lock();
        try {
            return out.isAlive() && out.flush();
        } catch (RuntimeException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    @Override
    public final boolean isCrowded() {
        lock.lock();
        try {
            return out.isAlive() && out.isCrowded();
        } finally {
            lock.unlock();
        }
    }

    /** Bytes that {@link #carryChanged} has found changed and sent. */
    public final long carriedBytes() {
        lock.lock();
        try {
            return carriedBytes;
        } finally {
            lock.unlock();
        }
    }

    // ---- fetching

    /** @throws OsException if the file cannot be mapped: nothing is lost, and the connection stays usable */
    @Override
    public final void fetchInto(SharedFile area) {
        if (!isUsable()) {
            return;
        }
        MemoryRegion region;
        try {
            region = memory.own(area);
        } catch (OsException e) {
            throw e;
        } catch (RuntimeException e) {
            locked(() -> failed(e));
            return;
        }
        lock.lock();
        try {
            areaRegion = region;
        } finally {
            leave();
        }
    }

    @Override
    public final boolean fetch(long offset, long areaOffset, long length, long deadline) {
        long last = read(offset, areaOffset, length);
        int looks = 0;
        while (last != FAILED && !isDone(last)) {
            if (!out.isAlive() || System.nanoTime() - deadline >= 0) {
                return false;
            }
            look();
            if (++looks < FETCH_LOOKS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(FETCH_PAUSE_NANOS);
            }
        }
        return last != FAILED && !hasEnded();
    }

    /** Returns the number of the last READ, or {@link #FAILED}. */
    private long read(long offset, long areaOffset, long length) {
        lock.lock();
        try {
            if (!out.isAlive() || !requests.fetch(offset, areaRegion, areaOffset, length)) {
                return FAILED;
            }
            fetchedBytes += length;
            return out.flush() ? out.added() : FAILED;
        } catch (RuntimeException e) {
            failed(e);
            return FAILED;
        } finally {
            leave();
        }
    }

    /** Whether a signaled request is done; also false once the peer is gone. */
    public final boolean isDone(long request) {
        lock.lock();
        try {
            if (out.isAlive()) {
                reap();
            }
            return out.isAlive() && request != FAILED && out.completed() >= request;
        } catch (RuntimeException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    /** Bytes that {@link #fetch} has requested. */
    public final long fetchedBytes() {
        lock.lock();
        try {
            return fetchedBytes;
        } finally {
            lock.unlock();
        }
    }

    // ---- registrations, without the lock

    /** Ends the connection if the shadow cannot be made. Both ends begin with memory that is all zero. */
    private void makeShadow() {
        making.lock();
        try {
            if (shadow == null && isUsable()) {
                MemoryRegion original = memory.region();
                try (SharedFile file = SharedFile.memfd("rackcall-shadow", original.byteSize())) {
                    MemoryRegion copy = memory.own(file);
                    locked(() -> {
                        requests.carryFrom(copy);
                        return true;
                    });
                    shadow = new RegisteredShadow(copy, Shadow.of(original.memory(), copy.memory()));
                }
            }
        } catch (RuntimeException e) {
            locked(() -> failed(e));
        } finally {
            making.unlock();
        }
    }

    /** Whether to register memory at all: without an agent, a registration would wait for the next agent process. */
    private boolean isUsable() {
        return locked(() -> {
            queue.failure().filter(why -> out.isAlive()).ifPresent(ending::end);
            return out.isAlive();
        });
    }

    // ---- with the lock

    /**
     * Runs this under the lock and returns its result; false if it has {@link #failed}. Allocates, so it is not for use
     * in calls.
     */
    protected final boolean locked(BooleanSupplier something) {
        lock.lock();
        try {
            return something.getAsBoolean();
        } catch (RuntimeException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    /** Takes completions, and does what they allow. */
    protected void reap() {
        out.reap();
    }

    /**
     * Whether another thread has to continue, for example with requests that {@linkplain PendingRequests#isHeldUp found
     * no room}, and has not been woken yet. Called each time before the lock is released.
     */
    protected abstract boolean wantsHelp();

    /** Wakes that thread. Called without the lock. */
    protected abstract void askForHelp();

    /** Whether a resource of the connection has failed. Does not name the control plane, an optional module. */
    protected boolean isFailure(RuntimeException e) {
        return e instanceof VerbsException || e instanceof OsException;
    }

    /** The connection is about to end because of this. */
    protected void failing(RuntimeException cause) {}

    /**
     * Ends the connection because its queue has failed or this side lacks a resource. Rethrows all other exceptions.
     *
     * @return false, for the caller to return
     */
    protected final boolean failed(RuntimeException e) {
        if (!isFailure(e)) {
            throw e;
        }
        failing(e);
        ending.end(e.getMessage());
        return false;
    }

    /** Releases the lock. */
    protected final void leave() {
        boolean asks = false;
        try {
            asks = wantsHelp();
        } finally {
            lock.unlock();
        }
        if (asks) {
            askForHelp();
        }
        if (ending.hasEnded()) {
            tellEnd();
        }
    }

    // ---- the end

    /** Whether the peer is known to be gone. */
    public final boolean hasEnded() {
        return ending.hasEnded();
    }

    /** Why it has ended. */
    public final String whyEnded() {
        return ending.why();
    }

    /** Ends the connection, as {@link Ending#end}. */
    public final void end(String reason) {
        ending.end(reason);
    }

    /**
     * Tells the listener of arrivals once that the connection has ended. The calling thread holds no lock of this
     * class.
     */
    public abstract void tellEnd();

    protected final boolean isClosed() {
        return closed;
    }

    @Override
    public final void hangUp() {
        out.waitNoMore();
        close();
    }

    @Override
    public final void close() {
        if (closing.compareAndSet(false, true)) {
            sendLast();
            closed = true;
            ending.silence();
            closeParts();
        }
    }

    /**
     * Posts nothing afterwards. Waits for earlier requests to arrive, such as a last answer or a call without a reply.
     */
    private void sendLast() {
        lock.lock();
        try {
            if (requests.areAimed() && out.isAlive()) {
                letArrive();
            }
        } catch (RuntimeException e) {
            failed(e);
        } finally {
            out.close();
            lock.unlock();
        }
    }

    /** Waits for a bounded time for what was posted to arrive. */
    protected abstract void letArrive();

    /** Releases all that this end has. Called once, when nothing is sent any more. */
    protected abstract void closeParts();
}
