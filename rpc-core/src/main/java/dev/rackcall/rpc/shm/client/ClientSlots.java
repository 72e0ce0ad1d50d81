package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.shm.os.Futex;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * The slots of a connection at its client, handed out in turn. Thread-safe.
 *
 * <p>A slot's turn comes with a ticket. Ticket {@code t} belongs to slot {@code t mod n} and may be taken once the server has taken request
 * {@code t - n}: from that moment the slot's previous holder is known to have marked it busy or free for good, so that one look at the slot's
 * state decides, and one compare-and-set per call is enough for any number of threads.
 */
class ClientSlots {
    private static final VarHandle TAIL;

    static {
        try {
            TAIL = MethodHandles.lookup().findVarHandle(ClientSlots.class, "tail", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    final ShmClientConnection connection;
    private final MemorySegment memory;
    private final ShmClientCall[] slots;
    private final int mask;

    @SuppressWarnings("unused") // TAIL
    private volatile long tail;

    ClientSlots(ShmClientConnection connection, int count) {
        this.connection = connection;
        this.memory = connection.memory;
        this.mask = count - 1;
        this.slots = new ShmClientCall[count];
        for (int i = 0; i < count; i++) {
            slots[i] = new ShmClientCall(connection, i);
        }
    }

    /** The slots of a connection for as many calls as its channel asked for. */
    static ClientSlots of(ShmClientConnection connection) {
        int count = connection.link.slots();
        return connection.link.isMirrored()
                ? new Reserving(connection, count, Math.min(connection.spec.slots(), count - count / 4))
                : new ClientSlots(connection, count);
    }

    ShmClientCall[] all() {
        return slots;
    }

    // ---- claiming one

    /**
     * Takes the next free slot; waits for one, up to the deadline, if all are taken. In the common case the slot's last call had the ticket one
     * lap before and has ended, which says all there is to know.
     */
    ShmClientCall claim(long deadline) {
        long ticket = (long) TAIL.getAcquire(this);
        ShmClientCall call = slots[(int) ticket & mask];
        if (call.wasLeftBy(ticket - mask - 1) && TAIL.compareAndSet(this, ticket, ticket + 1)) {
            call.occupy(ticket);
            if (connection.isOpen()) {
                return call;
            }
            call.release();
            throw connection.link.failure();
        }
        return claimSlowly(deadline, this::tryClaim);
    }

    /** As {@link #claim}, for a question of this side's own, which somebody who has a slot may wait for. */
    ShmClientCall claimToAsk(long deadline) {
        return claim(deadline);
    }

    final ShmClientCall claimSlowly(long deadline, Supplier<ShmClientCall> claiming) {
        passOverOwn();
        SpinWait wait = newWait(deadline);
        while (true) {
            ShmClientCall call = claiming.get();
            if (call != null) {
                return call;
            }
            connection.async.poll();
            awaitRoom(wait);
        }
    }

    /** The next free slot; null if there is none, or if the server is a whole lap behind. */
    final ShmClientCall tryClaim() {
        int skipped = 0;
        while (skipped <= mask) {
            if (!connection.isOpen()) {
                throw connection.link.failure();
            }
            long ticket = (long) TAIL.getAcquire(this);
            ShmClientCall call = slots[(int) ticket & mask];
            if (!call.wasLeftBy(ticket - mask - 1) && !hasRoom(ticket)) {
                return null;
            }
            if (!call.isBusy() || call.reapIfAnswered()) {
                if (TAIL.compareAndSet(this, ticket, ticket + 1)) {
                    call.occupy(ticket);
                    if (connection.isOpen()) {
                        return call;
                    }
                    call.release();
                }
            } else if (TAIL.compareAndSet(this, ticket, ticket + 1)) {
                // An earlier call still occupies the slot: tell the server to pass over it and try the next one.
                skip(call, ticket);
                skipped++;
            }
        }
        return null;
    }

    /** How many hold a call that has not ended. */
    final int busy() {
        int busy = 0;
        for (ShmClientCall call : slots) {
            busy += call.isBusy() && !call.reapIfAnswered() ? 1 : 0;
        }
        return busy;
    }

    private SpinWait newWait(long deadline) {
        ClientSpec spec = connection.spec;
        return new SpinWait(spec.waiting(), deadline, spec.defaultTimeout().toNanos());
    }

    private void awaitRoom(SpinWait wait) {
        if (!wait.once()) {
            int busy = 0;
            for (ShmClientCall call : slots) {
                busy += call.isBusy() ? 1 : 0;
            }
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with(
                            "channel %s: all %d slots were taken until the deadline (%d calls under way);"
                                    + " make fewer calls at once, or open the channel with more slots",
                            connection.spec.channel(), connection.spec.slots(), busy)
                    .asException();
        }
    }

    /** Whether the server has taken the request one lap before {@code ticket}, so that the slot's word may be written again. */
    private boolean hasRoom(long ticket) {
        try {
            return ticket - Math.min(ControlLayout.consumed(memory), ticket) <= mask;
        } catch (IllegalStateException e) {
            return connection.rethrowIfOpen(e);
        }
    }

    // ---- turns that are not used

    /** To be called by a thread before it waits: it may be in the middle of encoding another call's arguments, and the server at that slot. */
    void passOverOwn() {
        long thread = Thread.currentThread().threadId();
        for (ShmClientCall call : slots) {
            call.passOverIfEncoding(thread);
        }
    }

    /** Waits for the next turn of the slot of a call that was passed over, and takes it. Other slots' turns on the way stay unused. */
    void claimAgain(ShmClientCall wanted) {
        SpinWait wait = newWait(wanted.deadline);
        while (true) {
            if (!connection.isOpen()) {
                throw wanted.lost(connection.link.failure());
            }
            long ticket = (long) TAIL.getAcquire(this);
            ShmClientCall call = slots[(int) ticket & mask];
            if (call == wanted ? !hasRoom(ticket) : !call.wasLeftBy(ticket - mask - 1) && !hasRoom(ticket)) {
                connection.async.poll();
                awaitRoom(wait);
            } else if (TAIL.compareAndSet(this, ticket, ticket + 1)) {
                if (call == wanted) {
                    call.occupy(ticket);
                    return;
                }
                passOver(call, ticket);
            }
        }
    }

    /** Leaves the turn {@code ticket}, which this thread has, unused. */
    private void passOver(ShmClientCall call, long ticket) {
        if (call.isBusy() && !call.reapIfAnswered()) {
            skip(call, ticket);
        } else {
            call.occupy(ticket);
            skip(call, ticket);
            call.releaseUntaken();
        }
    }

    /** Tells the server to pass over the slot in that turn. */
    void skip(ClientSlot call, long ticket) {
        try {
            connection.publish(call.slot, SlotLayout.word(ticket, 0, SlotLayout.SKIP, 0));
        } catch (IllegalStateException e) {
            connection.rethrowIfOpen(e);
        }
    }

    // ---- all of them

    /** Wakes every caller that sleeps, so that he looks at his answer and at whether the connection is open. */
    void wakeAll() {
        for (ShmClientCall call : slots) {
            Futex.wake(memory, call.slot + SlotLayout.RESPONSE_WORD, Integer.MAX_VALUE);
        }
    }

    /** Whether no call uses the connection's memory any more. */
    boolean isQuiet() {
        for (ShmClientCall call : slots) {
            if (call.usesMemory()) {
                return false;
            }
        }
        return true;
    }

    /**
     * The slots of a connection whose ends have memory of their own: more than its calls may have at a time. The rest is for questions that reading an answer asks, of which each holds its call's slot: if calls could
     * take all slots, they could all wait for one. Thread-safe.
     *
     * <p>How many calls are under way is counted when as many have begun as there was room for the last time: in between they can only have become fewer. So a call that ends need say so to nobody.
     */
    static final class Reserving extends ClientSlots {
        private final int most;
        private final ReentrantLock turn = new ReentrantLock();
        /** Calls that may begin before they are counted anew. Guarded by {@link #turn}. */
        private int left;

        Reserving(ShmClientConnection connection, int count, int most) {
            super(connection, count);
            this.most = most;
        }

        @Override
        ShmClientCall claim(long deadline) {
            ShmClientCall call = tryForCall();
            return call != null ? call : claimSlowly(deadline, this::tryForCall);
        }

        @Override
        ShmClientCall claimToAsk(long deadline) {
            return super.claim(deadline);
        }

        private ShmClientCall tryForCall() {
            // Until the slot is occupied: who counts finds it so.
            turn.lock();
            try {
                if (left <= 0) {
                    left = most - busy();
                }
                ShmClientCall call = left <= 0 ? null : tryClaim();
                if (call != null) {
                    left--;
                }
                return call;
            } finally {
                turn.unlock();
            }
        }
    }
}
