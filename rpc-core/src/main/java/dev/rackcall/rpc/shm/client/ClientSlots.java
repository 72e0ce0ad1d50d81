package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.LostWakeUps;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.shm.os.Futex;
import dev.rackcall.shm.waiting.SpinTime;
import dev.rackcall.shm.waiting.Spinning;
import dev.rackcall.shm.waiting.WaitCounts;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * The slots of a connection at its client, handed out in turn. Thread-safe.
 *
 * <p>Each turn has a ticket. Ticket {@code t} belongs to slot {@code t mod n} and may be taken once the server has
 * taken request {@code t - n}. From then on the previous holder has marked the slot busy or free for good. One check of
 * that state therefore suffices, and a claim costs one compare-and-set for any number of threads.
 *
 * <p>While few calls are in flight, a lap has {@link ControlLayout#NARROW_SLOTS} turns, so that everything that belongs to
 * its slots stays in the processors' first caches. When a turn's slot is not free, laps become wide: n is the number of
 * all slots. They become narrow again after some wide laps during which few calls were in flight. As the narrow number
 * divides the wide one, a slot's earlier tickets lie a multiple of it back.
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

    /** Pause between two checks whether the server has taken requests, which it does not announce. */
    private static final long NAP_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    /** Bits of {@link #tail} for the age of wide laps. */
    private static final int AGE_BITS = 13;

    private static final int AGE_MASK = (1 << AGE_BITS) - 1;
    /** The age while laps are narrow. */
    private static final int NARROW = 0;
    /** The age of the first ticket of wide laps. */
    private static final int YOUNGEST = 1;

    private static final long TICKET = 1L << AGE_BITS;
    /** With at most so many calls in flight at the ends of {@link #QUIET_LAPS} wide laps, laps become narrow. */
    private static final int FEW = 2;

    private static final int QUIET_LAPS = 4;
    /** Narrow laps become wide at multiples of this ticket. A power of two, well below half of 2^32. */
    private static final long REFRESH = 1L << 30;

    /** Longest single sleep in the queue. */
    private static final long MAX_SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    final ShmClientConnection connection;
    private final MemorySegment memory;
    private final ShmClientCall[] slots;
    private final int mask;
    /** Of a narrow lap; equals {@link #mask} if laps are never narrow. */
    private final int narrowMask;
    /** The age of wide laps that have all begun wide. */
    private final int oldest;

    /** Learned from the waits for a slot. */
    final SpinTime roomTime = SpinTime.ofMemory();
    /** Callers that wait for a free slot. */
    final SlotQueue queue = new SlotQueue();

    /** The next ticket, and below it the age of wide laps: {@link #NARROW}, or 1 + the tickets since they became wide. */
    @SuppressWarnings("unused") // TAIL
    private volatile long tail;

    // Hints, written by all claiming threads: a lost update makes laps narrow a little earlier or later.

    /** Wide laps in a row that ended with few calls in flight. */
    private int quietLaps;
    /** The first ticket of the lap that was counted last. */
    private long lapCounted;

    ClientSlots(ShmClientConnection connection, int count) {
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

    // ---- turns

    /** Whether the next turn is one of a narrow lap; may change at once. */
    boolean isNarrow() {
        return ageOf((long) TAIL.getAcquire(this)) == NARROW;
    }

    private static long ticketOf(long turn) {
        return turn >>> AGE_BITS;
    }

    private static int ageOf(long turn) {
        return (int) turn & AGE_MASK;
    }

    private int lapMask(long turn) {
        return ageOf(turn) == NARROW ? narrowMask : mask;
    }

    private ShmClientCall slotOf(long turn) {
        return slots[(int) ticketOf(turn) & lapMask(turn)];
    }

    private long after(long turn) {
        int age = ageOf(turn);
        return turn + TICKET + (age == NARROW || age == oldest ? 0 : 1);
    }

    private boolean isTaken(long turn) {
        return TAIL.compareAndSet(this, turn, after(turn));
    }

    /** Whether the call that was a lap before has left the turn's slot; false if laps have just become wide. */
    private boolean wasLeftInTime(long turn) {
        int age = ageOf(turn);
        return (age == NARROW || age == oldest) && slotOf(turn).wasLeftBy(ticketOf(turn) - lapMask(turn) - 1);
    }

    /** Makes laps wide from that turn on, unless another thread has taken it or made them so. */
    private void widen(long turn) {
        if (TAIL.compareAndSet(this, turn, turn + YOUNGEST)) {
            announce(true, ticketOf(turn));
        }
    }

    /** The next turn. */
    private long turn() {
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
            announce(false, ticketOf(turn));
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
    private void announce(boolean wide, long ticket) {
        try {
            if (wide) {
                ControlLayout.wideFrom(memory, ticket);
            } else {
                ControlLayout.narrowFrom(memory, ticket);
            }
            connection.tell();
        } catch (IllegalStateException e) {
            connection.rethrowIfOpen(e);
        }
    }

    /** The slots of a connection, enough for the calls that its channel requested. */
    static ClientSlots of(ShmClientConnection connection) {
        int count = connection.end.slots();
        return connection.end.isMirrored()
                ? new Reserving(connection, count, Math.min(connection.spec.slots(), count - count / 4))
                : new ClientSlots(connection, count);
    }

    ShmClientCall[] all() {
        return slots;
    }

    // ---- claiming

    /**
     * Takes the next free slot; waits for one up to the deadline if all are taken. Usually the slot's last call had the
     * ticket one lap before and has ended; the fast path checks only this.
     */
    ShmClientCall claim(long deadline) {
        long turn = turn();
        if (wasLeftInTime(turn) && !queue.hasWaiters() && isTaken(turn)) {
            ShmClientCall call = slotOf(turn);
            call.occupy(ticketOf(turn));
            if (connection.isOpen()) {
                return call;
            }
            call.release();
            throw connection.end.failure();
        }
        return claimSlowly(deadline, this::tryClaim);
    }

    /**
     * As {@link #claim}, for the runtime's own requests, which a thread may send while it holds another slot, and which
     * an interrupt does not end. It does not queue: the callers in the queue may wait for that slot.
     */
    final ShmClientCall claimToAsk(long deadline) {
        ShmClientCall call = tryClaim();
        if (call == null) {
            passOverOwn();
            RoomWait wait = new RoomWait(deadline);
            do {
                wait.once();
                call = tryClaim();
            } while (call == null);
            wait.ended();
        }
        return call;
    }

    /** The next free slot for a call; null if there is none now. */
    ShmClientCall claimNow() {
        return tryClaim();
    }

    /** Claims in turn: after the threads that already wait, and each time after the control requests that wait. */
    final ShmClientCall claimSlowly(long deadline, Supplier<ShmClientCall> claiming) {
        passOverOwn();
        ShmClientCall call = queue.hasWaiters() ? null : claimAfterControls(claiming);
        return call != null ? call : claimInTurn(deadline, claiming);
    }

    private ShmClientCall claimAfterControls(Supplier<ShmClientCall> claiming) {
        connection.async.sendControlsFirst();
        return claiming.get();
    }

    private ShmClientCall claimInTurn(long deadline, Supplier<ShmClientCall> claiming) {
        WaitCounts.add(WaitCounts.Kind.SLOT);
        ConnectionEvents.WaitEvent event = ConnectionEvents.waitBegins();
        RoomWait wait = new RoomWait(deadline);
        SlotQueue.Waiter me = queue.enter(connection.async.queue().added());
        try {
            while (true) {
                if (Thread.currentThread().isInterrupted()) {
                    throw ClientFailure.interruptedUnsent(connection.spec.channel())
                            .asException();
                }
                boolean first = queue.isFirst(me);
                if (first) {
                    queue.open(me);
                    ShmClientCall call = claimAfterControls(claiming);
                    if (call != null) {
                        wait.ended();
                        return call;
                    }
                } else {
                    SlotQueue.rest(me);
                }
                if (first && !isFull()) {
                    // The server has not taken a request that a free slot still holds.
                    wait.once();
                } else if (first || !queue.isFirst(me)) {
                    wait.inQueue(me, first);
                }
            }
        } finally {
            queue.leave(me);
            ConnectionEvents.waited(event, connection.spec.channel(), "SLOT", "TAKEN");
            // Calls that were queued after this thread came have waited for it.
            connection.async.queue().flush();
        }
    }

    /** The next free slot; null if there is none, or if the server is a whole lap behind. */
    final ShmClientCall tryClaim() {
        int skipped = 0;
        boolean knowsOfFree = false;
        while (skipped <= mask) {
            if (!connection.isOpen()) {
                throw connection.end.failure();
            }
            long turn = turn();
            long ticket = ticketOf(turn);
            ShmClientCall call = slotOf(turn);
            boolean hasRoom = wasLeftInTime(turn) || hasRoom(turn);
            boolean isFree = hasRoom && (!call.isBusy() || call.reapIfAnswered());
            if (!isFree && lapMask(turn) != mask) {
                // No turn of a narrow lap is skipped.
                widen(turn);
            } else if (!hasRoom) {
                return null;
            } else if (isFree) {
                if (isTaken(turn)) {
                    call.occupy(ticket);
                    if (connection.isOpen()) {
                        return call;
                    }
                    call.release();
                }
            } else if (!knowsOfFree && areAllBusy()) {
                // Skipping all of them would only cost the server time.
                return null;
            } else if (isTaken(turn)) {
                // An earlier call still occupies the slot: the server is told to skip it, and the next one is tried.
                knowsOfFree = true;
                skip(call, ticket);
                skipped++;
            }
        }
        return null;
    }

    /** The number of calls that have not ended. */
    final int busy() {
        int busy = 0;
        for (ShmClientCall call : slots) {
            busy += call.isBusy() && !call.reapIfAnswered() ? 1 : 0;
        }
        return busy;
    }

    private boolean areAllBusy() {
        return busy() == slots.length;
    }

    /** Whether a call has to leave its slot before another one may begin. */
    boolean isFull() {
        return areAllBusy();
    }

    /** Whether a thread in the queue, which was the first or not, has what it waits for. */
    private boolean hasTurn(SlotQueue.Waiter waiter, boolean wasFirst) {
        return wasFirst ? isAnyLeft() && connection.isOpen() : queue.isFirst(waiter);
    }

    /** Whether a call has left its slot, apart from slots that only a look at their answers frees. */
    private boolean isAnyLeft() {
        int left = 0;
        for (ShmClientCall call : slots) {
            left += call.isBusy() ? 0 : 1;
        }
        return left > reserved();
    }

    /** Slots that calls leave free. */
    int reserved() {
        return 0;
    }

    /** A wait for a free slot, or for the server to take requests. */
    private final class RoomWait {
        private final WaitStrategy strategy = AnswerWaiting.ofThread(connection.spec.waiting());
        private final Spinning spinning = new Spinning(strategy, roomTime).begin();
        private final long end;
        private boolean spins = true;
        /** Whether the thread has spun, at least once. */
        private boolean hasSpun;

        RoomWait(long deadline) {
            end = deadline != 0
                    ? deadline
                    : spinning.start() + connection.spec.defaultTimeout().toNanos();
        }

        /** Completes calls that are answered, which may free slots, and waits a little. */
        void once() {
            connection.async.poll();
            if (end - System.nanoTime() <= 0) {
                throw outOfTime();
            }
            spin();
            if (!spins) {
                nap();
            }
        }

        private void spin() {
            hasSpun |= spins;
            spins = spins && spinning.goesOn(true);
        }

        /** There is room: the next waits learn from this one, unless it was not for this thread's turn. */
        void ended() {
            if (spins && hasSpun) {
                spinning.met();
            } else if (hasSpun) {
                spinning.slept();
            }
        }

        /** Naps although the thread may be interrupted: a park would return at once, and the loop would spin. */
        private static void nap() {
            boolean interrupted = Thread.interrupted();
            LockSupport.parkNanos(NAP_NANOS);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }

        /** Waits until another thread leaves a slot or an earlier place in the queue. */
        void inQueue(SlotQueue.Waiter me, boolean first) {
            // First: other calls' answers may keep coming for longer than this one may wait.
            long left = end - System.nanoTime();
            if (left <= 0) {
                throw outOfTime();
            }
            if (first && (connection.async.poll() > 0 || me.isWoken())) {
                return;
            }
            if (first || strategy == WaitStrategy.BUSY_SPIN) {
                spin();
            } else {
                spins = false;
            }
            if (!spins) {
                if (first) {
                    connection.async.watchSlots();
                }
                long nanos = Math.min(left, MAX_SLEEP_NANOS);
                if (!SlotQueue.park(me, nanos) && nanos == MAX_SLEEP_NANOS && hasTurn(me, first)) {
                    countIfLost(me, first);
                }
            }
        }

        private void countIfLost(SlotQueue.Waiter me, boolean first) {
            if (!SlotQueue.park(me, LostWakeUps.grace()) && hasTurn(me, first)) {
                LostWakeUps.found("a caller that waits for a slot of channel " + connection.spec.channel());
            }
        }

        private RpcException outOfTime() {
            int busy = 0;
            for (ShmClientCall call : slots) {
                busy += call.isBusy() ? 1 : 0;
            }
            int most = connection.spec.slots();
            if (busy < most) {
                // Fewer calls at a time would not help: the server has no time.
                return Status.Code.DEADLINE_EXCEEDED
                        .with(
                                "channel %s: the server had not taken earlier calls before the deadline, so this one was not sent"
                                        + " (%d of %d slots are taken)",
                                connection.spec.channel(), busy, most)
                        .asException();
            }
            return Status.Code.RESOURCE_EXHAUSTED
                    .with(
                            "channel %s: all %d slots were taken until the deadline (%d calls under way);"
                                    + " make fewer calls at once, or open the channel with more slots",
                            connection.spec.channel(), most, busy)
                    .asException();
        }
    }

    /** Whether the server has taken the last request of the turn's slot, so that its word may be overwritten. */
    private boolean hasRoom(long turn) {
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

    // ---- unused turns

    /**
     * Called by a thread before it waits: lets the server skip the slots at which that thread is encoding other calls.
     */
    void passOverOwn() {
        long thread = Thread.currentThread().threadId();
        for (ShmClientCall call : slots) {
            call.passOverIfEncoding(thread);
        }
    }

    /**
     * Waits for the next turn of a skipped call's slot and takes it. Turns of other slots that it takes meanwhile stay
     * unused.
     */
    void claimAgain(ShmClientCall wanted) {
        RoomWait wait = new RoomWait(wanted.deadline);
        while (true) {
            if (!connection.isOpen()) {
                throw wanted.lost(connection.end.failure());
            }
            long turn = (long) TAIL.getAcquire(this);
            long ticket = ticketOf(turn);
            ShmClientCall call = slotOf(turn);
            if (lapMask(turn) != mask) {
                // Narrow laps may never come to the slot, and none of their turns is skipped.
                widen(turn);
            } else if (call == wanted ? !hasRoom(turn) : !wasLeftInTime(turn) && !hasRoom(turn)) {
                wait.once();
            } else if (isTaken(turn)) {
                if (call == wanted) {
                    wait.ended();
                    call.occupy(ticket);
                    return;
                }
                passOver(call, ticket);
            }
        }
    }

    /** Leaves the turn {@code ticket}, which this thread owns, unused. */
    private void passOver(ShmClientCall call, long ticket) {
        if (call.isBusy() && !call.reapIfAnswered()) {
            skip(call, ticket);
        } else {
            call.occupy(ticket);
            skip(call, ticket);
            call.releaseUntaken();
        }
    }

    /** Tells the server to skip the slot in that turn. */
    void skip(ClientSlot call, long ticket) {
        try {
            connection.publish(call.slot, SlotLayout.word(ticket, 0, SlotLayout.SKIP, 0));
        } catch (IllegalStateException e) {
            connection.rethrowIfOpen(e);
        }
    }

    // ---- all of them

    /** Wakes all sleeping callers, so that they check their answers and the connection's state. */
    void wakeAll() {
        queue.wakeFirst();
        for (ShmClientCall call : slots) {
            Futex.wake(memory, call.slot + SlotLayout.RESPONSE_WORD, Integer.MAX_VALUE);
        }
    }

    /**
     * Wakes the sleeping callers whose answers have arrived, since the server cannot wake them.
     *
     * @return whether other callers still sleep
     */
    boolean wakeSleepers() {
        boolean anySleepsOn = false;
        for (int first = 0; first < slots.length; first += Long.SIZE) {
            for (long left = ControlLayout.asleep(memory, first); left != 0; left &= left - 1) {
                ShmClientCall call = slots[(first + Long.numberOfTrailingZeros(left)) & mask];
                if (call.isAnswered()) {
                    Futex.wake(memory, call.slot + SlotLayout.RESPONSE_WORD, 1);
                } else {
                    anySleepsOn = true;
                }
            }
        }
        return anySleepsOn;
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
     * The slots of a connection with mirrored memory: more than its calls may use at once. Reading an answer may need a
     * request while its call keeps its slot. If calls could take all slots, they could all wait for one. Thread-safe.
     *
     * <p>Calls are recounted only when the room found by the last count is used up. Calls that end meanwhile only make
     * more room, so they need not update the count.
     */
    static final class Reserving extends ClientSlots {
        private final int most;
        private final ReentrantLock turn = new ReentrantLock();
        /** Calls that may begin before the next recount. Guarded by {@link #turn}. */
        private int left;

        Reserving(ShmClientConnection connection, int count, int most) {
            super(connection, count);
            this.most = most;
        }

        @Override
        ShmClientCall claim(long deadline) {
            ShmClientCall call = queue.hasWaiters() ? null : tryForCall();
            return call != null ? call : claimSlowly(deadline, this::tryForCall);
        }

        @Override
        ShmClientCall claimNow() {
            return tryForCall();
        }

        @Override
        boolean isFull() {
            return busy() >= most;
        }

        @Override
        int reserved() {
            return all().length - most;
        }

        private ShmClientCall tryForCall() {
            // Held until the slot is occupied, so that a recount sees it.
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
