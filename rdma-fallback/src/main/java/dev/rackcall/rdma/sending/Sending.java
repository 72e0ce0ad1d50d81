package dev.rackcall.rdma.sending;

import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.VerbsException;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * The sending half of a connection: WRITEs and READs in order, by whichever thread, under one lock. How the peer is told that there is something new is left to those who extend it.
 *
 * <p>They {@code lock}, catch {@link RuntimeException} with {@link #failed}, and {@link #leave} in the end, in everything that they add. Allocates nothing once it has a twin of its memory, and as long as the peer takes what
 * comes.
 *
 * <p>Memory is registered without the lock: that may take as long as an agent's process takes to clear as much, or to answer at all, and only those wait who need it.
 */
public abstract class Sending {
    /** Stands for a request that was not posted. */
    protected static final long FAILED = -1;

    /** So often whoever fetches looks before he pauses between his looks: a peer that stands still does not take a processor. */
    private static final int FETCH_LOOKS = 5000;

    private static final long FETCH_PAUSE_NANOS = 50_000;

    /** Guards all but the making of what is registered. */
    protected final ReentrantLock lock = new ReentrantLock();

    protected final Outflow out;
    protected final Requests requests;
    private final Connection connection;
    private final ConnectionMemory memory;
    private final SendQueue queue;
    /** Of who makes the twin; taken before {@link #lock}. */
    private final ReentrantLock making = new ReentrantLock();
    /** Null until something is sent from it. Written by who makes it, and read before the lock is taken. */
    private volatile Twin twin;

    /** Null until something is to be fetched. */
    private MemoryRegion areaRegion;

    private long carriedBytes;
    private long fetchedBytes;

    /** @param batch how many requests set out at once if none is in haste; a divisor of 8 */
    protected Sending(Connection connection, ConnectionMemory memory, SendQueue queue, int batch) {
        this.connection = connection;
        this.memory = memory;
        this.queue = queue;
        out = new Outflow(connection, queue, batch);
        requests = new Requests(out, memory.region().byteSize());
    }

    /** Where to write. Before anything is posted. */
    protected final void aim(PeerMemory target) {
        lock.lock();
        try {
            requests.aim(target);
        } finally {
            lock.unlock();
        }
    }

    // ---- what is posted, as in Carrier; false if the peer is gone

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

    public final boolean carryChanged(long offset, long length) {
        if (twin == null) {
            makeTwin();
        }
        lock.lock();
        try {
            if (!out.isAlive()) {
                return false;
            }
            carriedBytes += twin.carry(offset, length);
            return out.isAlive();
        } catch (RuntimeException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

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

    /** @param urgent whether somebody should hear of it who neither looks nor listens */
    public abstract boolean publish(long offset, long value, boolean urgent);

    public abstract boolean tell(long number);

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

    /** Bytes that {@link #carryChanged} has found changed and sent. */
    public final long carriedBytes() {
        lock.lock();
        try {
            return carriedBytes;
        } finally {
            lock.unlock();
        }
    }

    /** Posts nothing any more. What was posted before is still to arrive: a last answer, a call that wants none. */
    public abstract void close();

    // ---- fetching

    /** @throws OsException if the file cannot be mapped: nothing is lost by that, and the connection goes on */
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

    public final boolean fetch(long offset, long areaOffset, long length, long deadline) {
        long last = request(offset, areaOffset, length);
        int looks = 0;
        while (last != FAILED && !isDone(last)) {
            if (!out.isAlive() || System.nanoTime() - deadline >= 0) {
                return false;
            }
            connection.look();
            if (++looks < FETCH_LOOKS) {
                Thread.onSpinWait();
            } else {
                LockSupport.parkNanos(FETCH_PAUSE_NANOS);
            }
        }
        return last != FAILED && !connection.hasEnded();
    }

    /** Returns the number of the last READ, or {@link #FAILED}. */
    private long request(long offset, long areaOffset, long length) {
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

    /** Whether a request that is signaled is done; false also if the peer is gone. */
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

    /** Bytes that {@link #fetch} has asked for. */
    public final long fetchedBytes() {
        lock.lock();
        try {
            return fetchedBytes;
        } finally {
            lock.unlock();
        }
    }

    // ---- what is registered, without the lock

    /** If it cannot be made the connection has ended. */
    private void makeTwin() {
        making.lock();
        try {
            if (twin == null && isUsable()) {
                twin = new Twin(memory, out, requests);
            }
        } catch (RuntimeException e) {
            locked(() -> failed(e));
        } finally {
            making.unlock();
        }
    }

    /** Whether it is worth while to register something for the connection: whoever has lost his agent would wait for the next one. */
    private boolean isUsable() {
        return locked(() -> {
            queue.failure().filter(why -> out.isAlive()).ifPresent(connection::end);
            return out.isAlive();
        });
    }

    // ---- with the lock

    /** Does something that no call waits for, since this makes objects, and returns what that does; false if it has {@link #failed}. */
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

    /** Whether somebody else must go on with what {@link Outflow#isHeldUp found no room}, or the like, and was not asked to yet. Asked each time before the lock is given back. */
    protected abstract boolean wantsHelp();

    /** Asks him. Without the lock. */
    protected abstract void askForHelp();

    /** Whether what the connection stands on has failed. This class knows nothing of the control plane, which need not be on the class path. */
    protected boolean isFailure(RuntimeException e) {
        return e instanceof VerbsException || e instanceof OsException;
    }

    /** The connection is about to end because of this. */
    protected void failing(RuntimeException cause) {}

    /**
     * Ends the connection: its queue takes nothing any more, or this side lacks something that it needs. Throws what is no such thing.
     *
     * @return false, for the caller to return
     */
    protected final boolean failed(RuntimeException e) {
        if (!isFailure(e)) {
            throw e;
        }
        failing(e);
        connection.end(e.getMessage());
        return false;
    }

    /** Gives the lock back. */
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
        if (connection.hasEnded()) {
            connection.tellEnd();
        }
    }
}
