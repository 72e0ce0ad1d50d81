package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.ClientCall;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * A slot at the client, as far as who has it; what he does with it is in {@link ShmClientCall}. A superclass, so that the word below is one load away from whoever claims
 * the slot.
 *
 * <p>Its life is in one word, the ticket of the call that has it and one of four states, so that a compare-and-set on it can never
 * confuse two calls: FREE; HELD, while a thread encodes, waits or decodes; ASYNC, sent, the answer belongs to whoever polls; ABANDONED, sent, but
 * nobody wants the answer: the slot is free again once the answer has come.
 */
abstract sealed class ClientSlot extends ClientCall permits ShmClientCall {
    private static final int STATE_BITS = 2;
    private static final int STATE_MASK = (1 << STATE_BITS) - 1;
    private static final int FREE = 0;
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

    /** Offset of the slot in the connection's memory. */
    final long slot;
    /** A virtual thread that is parked until the answer is there. */
    volatile Thread waiter;

    final ShmClientConnection connection;
    final MemorySegment memory;

    @SuppressWarnings("unused") // WORD
    private volatile long word;

    /** Id of the thread that encodes arguments here; each thread only looks for its own. */
    private long encoder;

    private boolean passedOver;

    ClientSlot(ShmClientConnection connection, int index) {
        this.connection = connection;
        this.memory = connection.memory;
        this.slot = ControlLayout.slot(index);
        // As if the call of the lap before the first had just left.
        this.word = ((long) index - connection.link.slots()) << STATE_BITS;
    }

    // ---- looking at it: any thread

    /** Whether the slot is free, and the last call in it had that ticket. Acquire: pairs with {@link #release}. */
    boolean wasLeftBy(long ticket) {
        return (long) WORD.getAcquire(this) == ((ticket << STATE_BITS) | FREE);
    }

    boolean isBusy() {
        return state((long) WORD.getAcquire(this)) != FREE;
    }

    boolean isAsync() {
        return state((long) WORD.getAcquire(this)) == ASYNC;
    }

    /** Whether a thread of this process may be touching the connection's memory for this slot. */
    boolean usesMemory() {
        return state((long) WORD.getAcquire(this)) == HELD;
    }

    long ticket() {
        return (long) WORD.getOpaque(this) >>> STATE_BITS;
    }

    boolean isAnswered() {
        return isAnswered(ticket());
    }

    /** Never once the connection's memory is gone: whoever does not hold the slot may look after that. */
    boolean isAnswered(long ticket) {
        try {
            return SlotLayout.isOf(SlotLayout.responseWord(memory, slot), ticket);
        } catch (IllegalStateException e) {
            return connection.rethrowIfOpen(e);
        }
    }

    // ---- taking it, and leaving it

    /** The caller holds ticket {@code ticket}, so nobody else changes the word now. */
    void occupy(long ticket) {
        WORD.setRelease(this, (ticket << STATE_BITS) | HELD);
    }

    /** Pairs with the acquire in {@link #isBusy}: the next holder sees the slot as this one leaves it. */
    void release() {
        setState(FREE);
        hasLeft();
    }

    /**
     * As {@link #release}, of a slot whose request the server may not have taken yet: no answer says so. It is left as if by an earlier call, so
     * that the next one looks how far the server is before it writes over that request.
     */
    void releaseUntaken() {
        WORD.setRelease(this, (ticket() - 1) << STATE_BITS | FREE);
        hasLeft();
    }

    /** By the thread that holds the slot, which owns nothing of it afterwards unless it stays HELD. */
    void setState(int state) {
        WORD.setRelease(this, (ticket() << STATE_BITS) | state);
    }

    /** After each step out of HELD by the thread that held the slot: if the connection has ended, it may be its memory's last user. */
    void hasLeft() {
        if (!connection.isOpen()) {
            connection.link.memoryReleased();
        }
    }

    /** Frees an abandoned slot whose answer has come; returns whether this thread did. */
    boolean reapIfAnswered() {
        long seen = (long) WORD.getAcquire(this);
        return state(seen) == ABANDONED
                && isAnswered(seen >>> STATE_BITS)
                && WORD.compareAndSet(this, seen, seen & ~STATE_MASK);
    }

    /** Takes a call that was sent asynchronously from its future's hands; exactly one thread succeeds. */
    boolean take(long ticket) {
        return WORD.compareAndSet(this, (ticket << STATE_BITS) | ASYNC, (ticket << STATE_BITS) | HELD);
    }

    /** Gives up on an asynchronous call; exactly one of this and {@link #take} succeeds. */
    boolean giveUp(long ticket) {
        return WORD.compareAndSet(this, (ticket << STATE_BITS) | ASYNC, (ticket << STATE_BITS) | ABANDONED);
    }

    /** Takes back what {@code parked} announced in {@link #waiter}; returns whether it still stood there. */
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
     * Lets the server pass over this slot for now, if the thread with that id, the current one, encodes arguments here. It waits for another call,
     * which the server takes only after this one: encoding asks for a list's elements, and those may come from a call.
     */
    void passOverIfEncoding(long thread) {
        if (encoder == thread && !passedOver) {
            passedOver = true;
            connection.slots.skip(this, ticket());
        }
    }

    /** Whether the server has been told to pass over this slot, which is then in nobody's way. */
    boolean isPassedOver() {
        return passedOver;
    }

    void hasTurnAgain() {
        passedOver = false;
    }

    /** Gives back a slot whose call was not sent: the server passes over it. */
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
