package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.shm.protocol.ControlLayout;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The slots of a connection at its client, and the order of their turns. Thread-safe. A superclass rather than a field:
 * each call reads it.
 *
 * <p>Each turn has a ticket. Ticket {@code t} belongs to slot {@code t mod n} and may be taken once the server has
 * taken request {@code t - n}. From then on the previous holder has marked the slot busy or free for good. One check of
 * that state therefore suffices, and a claim costs one compare-and-set for any number of threads.
 *
 * <p>While few calls are in flight, a lap has {@link ControlLayout#NARROW_SLOTS} turns, so that everything that belongs to
 * its slots stays in the processors' first caches. When a turn's slot is not free, laps become wide: n is the number of
 * all slots. They become narrow again after some wide laps during which few calls were in flight. As the narrow number
 * divides the wide one, a slot's earlier tickets lie a multiple of it back. In one of eight cases, the turn at which laps
 * become wide has the same slot as before; then the next call waits until the server takes a request.
 */
abstract class SlotTurns {
    private static final VarHandle TAIL;

    static {
        try {
            TAIL = MethodHandles.lookup().findVarHandle(SlotTurns.class, "tail", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    /** Bits of {@link #tail} for the age of wide laps. */
    private static final int AGE_BITS = 13;

    private static final int AGE_MASK = (1 << AGE_BITS) - 1;
    /** The age while laps are narrow. */
    private static final int NARROW = 0;
    /** The age of the first ticket of wide laps. */
    private static final int YOUNGEST = 1;

    private static final long TICKET = 1L << AGE_BITS;
    /** Laps become narrow after {@link #QUIET_LAPS} wide laps that end with at most this many calls in flight. */
    private static final int FEW = 2;

    private static final int QUIET_LAPS = 4;
    /** Narrow laps become wide at multiples of this ticket. A power of two, well below half of 2^32. */
    private static final long REFRESH = 1L << 30;

    final ShmClientConnection connection;
    final MemorySegment memory;
    final ShmClientCall[] slots;
    /** Of a wide lap: one less than the number of slots. */
    final int mask;
    /** Of a narrow lap; equals {@link #mask} if laps are never narrow. */
    private final int narrowMask;
    /** The age of wide laps once the first of them is over. */
    private final int oldest;

    /** The next ticket, and below it the age of wide laps: {@link #NARROW}, or 1 + the tickets since they became wide. */
    @SuppressWarnings("unused") // TAIL
    private volatile long tail;

    // Hints, written by all claiming threads: a lost update makes laps narrow a little earlier or later.

    /** Wide laps in a row that ended with few calls in flight. */
    private int quietLaps;
    /** The first ticket of the lap that was counted last. */
    private long lapCounted;

    SlotTurns(ShmClientConnection connection, int count) {
        this.connection = connection;
        this.memory = connection.memory;
        this.mask = count - 1;
        this.slots = new ShmClientCall[count];
        for (int i = 0; i < count; i++) {
            slots[i] = new ShmClientCall(connection, i);
        }
        this.oldest = YOUNGEST + count;
        // A mirrored end copies slots in the order of wide laps.
        boolean mayBeNarrow = count > ControlLayout.NARROW_SLOTS && !connection.end.isMirrored();
        this.narrowMask = mayBeNarrow ? ControlLayout.NARROW_SLOTS - 1 : mask;
        if (mayBeNarrow) {
            ControlLayout.narrowFrom(memory, 0);
        } else {
            TAIL.setRelease(this, (long) oldest);
        }
    }

    /** Whether the next turn is one of a narrow lap; may change at once. */
    boolean isNarrow() {
        return ageOf((long) TAIL.getAcquire(this)) == NARROW;
    }

    static long ticketOf(long turn) {
        return turn >>> AGE_BITS;
    }

    private static int ageOf(long turn) {
        return (int) turn & AGE_MASK;
    }

    private int lapMask(long turn) {
        return ageOf(turn) == NARROW ? narrowMask : mask;
    }

    final ShmClientCall slotOf(long turn) {
        return slots[(int) ticketOf(turn) & lapMask(turn)];
    }

    private long after(long turn) {
        int age = ageOf(turn);
        return turn + TICKET + (age == NARROW || age == oldest ? 0 : 1);
    }

    final boolean isTaken(long turn) {
        return TAIL.compareAndSet(this, turn, after(turn));
    }

    /** Whether the call of the lap before has left the turn's slot; false if laps have just become wide. */
    final boolean wasLeftInTime(long turn) {
        int age = ageOf(turn);
        return (age == NARROW || age == oldest) && slotOf(turn).wasLeftBy(ticketOf(turn) - lapMask(turn) - 1);
    }

    /**
     * As {@link #isTaken}, for any turn. A thread that has just changed laps may lose its processor before it tells the
     * server. Each thread that takes a turn of the first lap after the change therefore tells the server first.
     */
    final boolean isTakenInAnyLap(long turn) {
        int age = ageOf(turn);
        long ticket = ticketOf(turn);
        if (age == NARROW) {
            // Only in the first narrow lap was a slot last used a wide lap before. That lap began at its first slot.
            if (((int) ticket & mask) <= narrowMask && slotOf(turn).ticket() <= ticket - mask - 1) {
                announceNarrow(ticket & ~mask);
            }
        } else if (age != oldest) {
            announceWide(ticket - (age - YOUNGEST));
        }
        return isTaken(turn);
    }

    /** Whether the turn is one of a narrow lap. None of these is skipped. */
    final boolean isNarrow(long turn) {
        return lapMask(turn) != mask;
    }

    /** Makes laps wide from that turn on, unless another thread has already taken the turn or made laps wide. */
    final void widen(long turn) {
        if (TAIL.compareAndSet(this, turn, turn + YOUNGEST)) {
            announceWide(ticketOf(turn));
        }
    }

    /** The next turn. */
    final long turn() {
        long turn = (long) TAIL.getAcquire(this);
        if (((int) ticketOf(turn) & mask) == 0 && mask != narrowMask) {
            beginLap(turn);
            turn = (long) TAIL.getAcquire(this);
        }
        return turn;
    }

    /** Makes wide laps narrow if only few calls were in flight for some time, and narrow ones wide now and then. */
    private void beginLap(long turn) {
        int age = ageOf(turn);
        long ticket = ticketOf(turn);
        if (age == NARROW) {
            // Words have the low halves of tickets only, so none may become too old.
            if (ticket != 0 && (ticket & (REFRESH - 1)) == 0) {
                widen(turn);
            }
        } else if (age == oldest && ticket != lapCounted) {
            lapCounted = ticket;
            quietLaps = busy() > FEW ? 0 : quietLaps + 1;
            if (quietLaps >= QUIET_LAPS && areNarrowSlotsFree() && hasCaughtUp(ticket)) {
                narrow(turn);
            }
        }
    }

    private void narrow(long turn) {
        if (TAIL.compareAndSet(this, turn, turn - ageOf(turn))) {
            quietLaps = 0;
            announceNarrow(ticketOf(turn));
        }
    }

    /**
     * Whether the server has taken all requests. Laps become narrow only then, so at most one change, a widening, is ahead
     * of the server, and the words are right for its next request.
     */
    private boolean hasCaughtUp(long ticket) {
        try {
            return ControlLayout.consumed(memory) == ticket;
        } catch (IllegalStateException e) {
            return connection.rethrowIfOpen(e);
        }
    }

    private boolean areNarrowSlotsFree() {
        for (int i = 0; i <= narrowMask; i++) {
            if (slots[i].isBusy()) {
                return false;
            }
        }
        return true;
    }

    /** The server may find no request from that ticket on, whichever thread sends it, until it sees this change. */
    private void announceWide(long ticket) {
        try {
            if (ControlLayout.wideFrom(memory, ticket)) {
                connection.tell();
            }
        } catch (IllegalStateException e) {
            connection.rethrowIfOpen(e);
        }
    }

    /** As {@link #announceWide}. */
    private void announceNarrow(long ticket) {
        try {
            if (ControlLayout.narrowFrom(memory, ticket)) {
                connection.tell();
            }
        } catch (IllegalStateException e) {
            connection.rethrowIfOpen(e);
        }
    }

    /** Whether the server has taken the last request of the turn's slot, so that its word may be overwritten. */
    final boolean hasRoom(long turn) {
        long ticket = ticketOf(turn);
        try {
            return ticket - Math.min(ControlLayout.consumed(memory), ticket) < mostAhead(turn);
        } catch (IllegalStateException e) {
            return connection.rethrowIfOpen(e);
        }
    }

    /** The last request of the turn's slot lies at least so many tickets back. */
    private int mostAhead(long turn) {
        int age = ageOf(turn);
        if (age == NARROW) {
            return narrowMask + 1;
        }
        // In the first wide lap, the last request of one of the first slots may still belong to a narrow lap.
        boolean wasNarrow = age < oldest && ((int) ticketOf(turn) & mask) <= narrowMask;
        return wasNarrow ? Math.max(age - YOUNGEST, narrowMask + 1) : mask + 1;
    }

    /** The number of calls that have not ended. */
    final int busy() {
        int busy = 0;
        for (ShmClientCall call : slots) {
            busy += call.isBusy() && !call.reapIfAnswered() ? 1 : 0;
        }
        return busy;
    }
}
