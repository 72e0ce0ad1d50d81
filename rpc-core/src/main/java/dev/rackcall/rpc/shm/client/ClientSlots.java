package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.CallWaits;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.shm.os.Futex;
import dev.rackcall.shm.waiting.SpinTime;
import dev.rackcall.shm.waiting.WaitCounts;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/** The slots of a connection at its client, handed out in turn ({@link SlotTurns}) and in order of arrival. Thread-safe. */
class ClientSlots extends SlotTurns implements RoomWait.Room {
    /** Learned from the waits for a slot. */
    final SpinTime roomTime = SpinTime.ofMemory();
    /** Callers that wait for a free slot. */
    final SlotQueue queue = new SlotQueue();

    ClientSlots(ShmClientConnection connection, int count) {
        super(connection, count);
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
            RoomWait wait = waitUntil(deadline);
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
        RoomWait wait = waitUntil(deadline);
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
                        // Only now: the memory stays mapped while this thread has a slot.
                        CallWaits.add(connection.memory, CallWaits.Kind.SLOT);
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
            if (!isFree && isNarrow(turn)) {
                widen(turn);
            } else if (!hasRoom) {
                return null;
            } else if (isFree) {
                if (isTakenInAnyLap(turn)) {
                    call.occupy(ticket);
                    if (connection.isOpen()) {
                        return call;
                    }
                    call.release();
                }
            } else if (!knowsOfFree && areAllBusy()) {
                // Skipping all of them would only cost the server time.
                return null;
            } else if (isTakenInAnyLap(turn)) {
                // An earlier call still occupies the slot: the server is told to skip it, and the next one is tried.
                knowsOfFree = true;
                skip(call, ticket);
                skipped++;
            }
        }
        return null;
    }

    private boolean areAllBusy() {
        return busy() == slots.length;
    }

    /** Whether a call has to leave its slot before another one may begin. */
    boolean isFull() {
        return areAllBusy();
    }

    // ---- waiting for one

    /** {@code deadline} is 0 for the channel's default timeout. */
    private RoomWait waitUntil(long deadline) {
        ClientSpec spec = connection.spec;
        long end = deadline != 0
                ? deadline
                : spec.clock().nanoTime() + spec.defaultTimeout().toNanos();
        return new RoomWait(this, spec, AnswerWaiting.ofThread(spec.waiting()), roomTime, end);
    }

    @Override
    public int poll() {
        return connection.async.poll();
    }

    @Override
    public void watch() {
        connection.async.watchSlots();
    }

    @Override
    public boolean hasTurn(SlotQueue.Waiter waiter, boolean wasFirst) {
        return wasFirst ? isAnyLeft() && connection.isOpen() : queue.isFirst(waiter);
    }

    @Override
    public RpcException outOfTime() {
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
        RoomWait wait = waitUntil(wanted.deadline);
        while (true) {
            if (!connection.isOpen()) {
                throw wanted.lost(connection.end.failure());
            }
            long turn = turn();
            long ticket = ticketOf(turn);
            ShmClientCall call = slotOf(turn);
            if (isNarrow(turn)) {
                // Narrow laps may never come to the slot.
                widen(turn);
            } else if (call == wanted ? !hasRoom(turn) : !wasLeftInTime(turn) && !hasRoom(turn)) {
                wait.once();
            } else if (isTakenInAnyLap(turn)) {
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
