package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.ClientCall;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The owner and state of a slot at the client; {@link ShmClientCall} does the rest. A superclass rather than a field,
 * so that a claiming thread reaches the state with one load.
 *
 * <p>One word holds the ticket of the slot's call and one of four states, so that a compare-and-set never confuses two
 * calls. FREE. HELD: a thread encodes, waits or decodes. ASYNC: sent; the answer belongs to the thread that polls it.
 * ABANDONED: sent, but the answer is not wanted; the slot is free once the answer has arrived.
 */
abstract sealed class ClientSlot extends ClientCall permits ShmClientCall {
    private static final int STATE_BITS = 2;
    private static final int STATE_MASK = (1 << STATE_BITS) - 1;
    static final int FREE = 0;
    static final int HELD = 1;
    static final int ASYNC = 2;
    static final int ABANDONED = 3;

    /** No thread has this id. */
    private static final long NOBODY = 0;

    private static final VarHandle WORD;
    private static final VarHandle WAITER;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            WORD = lookup.findVarHandle(ClientSlot.class, "word", long.class);
            WAITER = lookup.findVarHandle(ClientSlot.class, "waiter", Thread.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final int index;
    /** Offset of the slot in the connection's memory. */
    final long slot;
    /** A virtual thread that is parked until the answer arrives. */
    volatile Thread waiter;

    final ShmClientConnection connection;
    final MemorySegment memory;

    @SuppressWarnings("unused") // WORD
    private volatile long word;

    /** Id of the thread that encodes arguments here. Each thread only compares it with its own id. */
    private long encoder;

    private boolean passedOver;

    ClientSlot(ShmClientConnection connection, int index) {
        this.connection = connection;
        this.memory = connection.memory;
        this.index = index;
        this.slot = ControlLayout.slot(index);
        // As if a call one lap before the first had just left the slot.
        this.word = ((long) index - connection.end.slots()) << STATE_BITS;
    }

    // ---- looking at it: any thread

    /** Whether the slot is free and its last call had that ticket. Acquire: pairs with {@link #release}. */
    boolean wasLeftBy(long ticket) {
        return (long) WORD.getAcquire(this) == ((ticket << STATE_BITS) | FREE);
    }

    boolean isBusy() {
        return state((long) WORD.getAcquire(this)) != FREE;
    }

    /** Whether the slot becomes free although no thread waits for its answer. */
    boolean isUnattended() {
        int state = state((long) WORD.getAcquire(this));
        return state == ASYNC || state == ABANDONED;
    }

    boolean isAsync() {
        return state((long) WORD.getAcquire(this)) == ASYNC;
    }

    /** Whether a thread of this process may be using the connection's memory for this slot. */
    boolean usesMemory() {
        return state((long) WORD.getAcquire(this)) == HELD;
    }

    long ticket() {
        return (long) WORD.getOpaque(this) >>> STATE_BITS;
    }

    boolean isAnswered() {
        return isAnswered(ticket());
    }

    /** False once the memory is unmapped: callers need not hold the slot. */
    boolean isAnswered(long ticket) {
        try {
            return SlotLayout.isOf(SlotLayout.responseWord(memory, slot), ticket);
        } catch (IllegalStateException e) {
            return connection.rethrowIfOpen(e);
        }
    }

    // ---- taking and leaving it

    /** The caller owns the ticket, so no other thread changes the word now. */
    void occupy(long ticket) {
        WORD.setRelease(this, (ticket << STATE_BITS) | HELD);
    }

    /** Pairs with the acquire in {@link #isBusy}: the next holder sees the slot as this one leaves it. */
    void release() {
        setState(FREE);
        hasLeft();
    }

    /**
     * As {@link #release}, for a request that the server may not have taken yet. The slot looks as if an earlier call
     * had left it, so that the next call checks the server's progress before it overwrites the request.
     */
    void releaseUntaken() {
        WORD.setRelease(this, (ticket() - 1) << STATE_BITS | FREE);
        hasLeft();
    }

    /** Called by the thread that holds the slot, which owns it afterwards only if the state stays HELD. */
    void setState(int state) {
        WORD.setRelease(this, (ticket() << STATE_BITS) | state);
    }

    /**
     * Called after each step out of HELD: a thread or a queued call may wait for the slot, and if the connection has
     * ended, this thread may be its memory's last user.
     */
    void hasLeft() {
        SlotQueue queue = connection.slots.queue;
        if (queue.isWanted()) {
            queue.left();
        }
        connection.async.slotReleased();
        if (!connection.isOpen()) {
            connection.end.memoryReleased();
        }
    }

    /** Frees an abandoned slot whose answer has arrived; returns whether this thread did. */
    boolean reapIfAnswered() {
        long seen = (long) WORD.getAcquire(this);
        boolean reaped = state(seen) == ABANDONED
                && isAnswered(seen >>> STATE_BITS)
                && WORD.compareAndSet(this, seen, seen & ~STATE_MASK);
        if (reaped) {
            SlotQueue queue = connection.slots.queue;
            if (queue.isWanted()) {
                queue.left();
            }
        }
        return reaped;
    }

    /** Takes a sent asynchronous call from its future; exactly one thread succeeds. */
    boolean take(long ticket) {
        return WORD.compareAndSet(this, (ticket << STATE_BITS) | ASYNC, (ticket << STATE_BITS) | HELD);
    }

    /** Abandons an asynchronous call; exactly one of this and {@link #take} succeeds. */
    boolean giveUp(long ticket) {
        return WORD.compareAndSet(this, (ticket << STATE_BITS) | ASYNC, (ticket << STATE_BITS) | ABANDONED);
    }

    /** Withdraws the announcement of {@code parked} in {@link #waiter}; returns whether it was still there. */
    boolean dismiss(Thread parked) {
        return WAITER.compareAndSet(this, parked, null);
    }

    // ---- its turn, while arguments are encoded: the thread that holds it

    void startEncoding() {
        encoder = Thread.currentThread().threadId();
        passedOver = false;
    }

    void stopEncoding() {
        encoder = NOBODY;
    }

    /**
     * Lets the server skip this slot if the current thread, whose id is {@code thread}, encodes arguments here. The
     * thread is about to wait for a later call, and the server takes calls in order. For example, encoding a list may
     * make calls to get its elements.
     */
    void passOverIfEncoding(long thread) {
        if (encoder == thread && !passedOver) {
            passedOver = true;
            connection.slots.skip(this, ticket());
        }
    }

    /** Whether the server has been told to skip this slot. */
    boolean isPassedOver() {
        return passedOver;
    }

    void hasTurnAgain() {
        passedOver = false;
    }

    /** Releases a slot whose call was not sent: the server skips it. */
    void withdraw() {
        if (!passedOver) {
            connection.publish(slot, SlotLayout.word(ticket(), 0, SlotLayout.SKIP, 0));
        }
        releaseUntaken();
    }

    private static int state(long word) {
        return (int) word & STATE_MASK;
    }
}
