package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.shm.protocol.ControlOp;
import dev.rackcall.rpc.shm.protocol.LostWakeUps;
import dev.rackcall.shm.waiting.SpinTime;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.lang.invoke.VarHandle;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The calls of one connection whose answers no caller spins for: futures, parked virtual threads and control requests.
 * Any thread may poll; exactly one thread takes each answer. There is no lock, so code that a completed future runs may
 * call, wait and poll again.
 */
final class AsyncCalls implements ClientReactor.Polled {
    /** An asynchronous sender polls once per this many calls, so that answers do not pile up. */
    private static final int SENDS_PER_POLL = 16;

    /** A helping thread polls its own call each time, but all slots only once per this many polls. */
    private static final int SPINS_PER_POLL = 16;

    /** Pause between two looks for room, while the connection is being closed. */
    private static final long NAP_NANOS = TimeUnit.MICROSECONDS.toNanos(100);

    private final ShmClientConnection connection;
    private final ShmClientCall[] calls;
    private final SpinTime answerTime;
    private final WaitStrategy strategy;
    /** Control requests that found no free slot. */
    private final Queue<ControlRequest> controls = new ConcurrentLinkedQueue<>();
    /** Their number, for the calls that begin. */
    private final AtomicInteger waitingControls = new AtomicInteger();
    /** Held by the thread that sends them. */
    private final ReentrantLock sendingControls = new ReentrantLock();

    private final CallQueue queue;

    private int sends;
    /**
     * Counts polls by helping threads, so that the reactor sees whether threads still help. Lost updates do not matter.
     */
    private volatile int helped;

    private record ControlRequest(int op, long operand) {}

    AsyncCalls(ShmClientConnection connection, ShmClientCall[] calls) {
        this.connection = connection;
        this.calls = calls;
        this.queue = new CallQueue(connection);
        this.answerTime = connection.end.newAnswerTime();
        // Also where callers spin for ever: the answer to this future may be taken by another thread, and then only a
        // thread that parks is told.
        this.strategy =
                connection.spec.waiting() == WaitStrategy.BLOCKING ? WaitStrategy.BLOCKING : WaitStrategy.ADAPTIVE;
    }

    /** The calls that wait for a free slot. */
    CallQueue queue() {
        return queue;
    }

    /** Called after a slot was left by a thread that may not poll again. */
    void slotReleased() {
        if (!queue.isEmpty()) {
            // Orders leaving the slot before the check whether the reactor sleeps. The reactor announces that before it
            // looks for free slots.
            VarHandle.fullFence();
            connection.end.reactor().wakeIfIdle();
        }
    }

    /** Makes sure that a thread polls for an asynchronous call just sent, whose state was set before a full fence. */
    void sent() {
        if (++sends % SENDS_PER_POLL == 0) {
            poll();
        }
        connection.end.reactor().wakeIfIdle();
    }

    @Override
    public int poll() {
        int completed = 0;
        SlotQueue waiting = connection.slots.queue;
        connection.end.look();
        for (ShmClientCall call : calls) {
            if (call.isAsync() && call.isAnswered()) {
                RpcFuture<?> future = call.future;
                if (future != null) {
                    future.finish();
                    completed++;
                }
            } else if (call.waiter != null && call.isAnswered()) {
                unpark(call);
                completed++;
            } else if (waiting.isWanted() && call.reapIfAnswered()) {
                completed++;
            }
        }
        queue.flush();
        return completed;
    }

    /** Lets the reactor free slots that no caller frees, for threads that wait for one. They have announced that. */
    void watchSlots() {
        if (isAwaited()) {
            connection.end.reactor().wakeIfIdle();
        }
    }

    private static void unpark(ShmClientCall call) {
        Thread waiter = call.waiter;
        // Withdraws only this announcement: the slot's next call may have parked its own thread by now.
        if (waiter != null && call.dismiss(waiter)) {
            LockSupport.unpark(waiter);
        }
    }

    /**
     * Polls on behalf of a thread that waits for {@code future}, at most until {@code end}, a nanoTime, and while
     * spinning pays.
     */
    void help(PolledFuture<?> future, long end) {
        // Users' stages may run in here, and take long: the thread no longer counts among those that spin.
        if (takes(future, end)) {
            future.finishTaken();
        }
    }

    /** Polls; returns whether this thread has taken the answer to {@code future}. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // of helped, where lost updates do not matter
    private boolean takes(PolledFuture<?> future, long end) {
        AnswerWaiting.Spin spin = connection.waiting.new Spin(strategy, answerTime);
        boolean spins = spin.begins();
        try {
            do {
                if (spins) {
                    // Else the reactor would leave the answers to a thread that sleeps.
                    helped++;
                }
                for (int i = 0; i < SPINS_PER_POLL; i++) {
                    boolean done = future.isDone();
                    if (done || future.takes()) {
                        spin.spinning.met();
                        return !done;
                    }
                    connection.end.look();
                    Thread.onSpinWait();
                }
                poll();
            } while (spins && connection.end.isOpen() && end - System.nanoTime() > 0 && goesOn(spin));
            return false;
        } finally {
            if (spins) {
                spin.ends();
            }
        }
    }

    /** The future may have left its slot, so that the end of the connection unmaps the memory. */
    private boolean goesOn(AnswerWaiting.Spin spin) {
        try {
            return spin.goesOn(spin.sharesProcessor());
        } catch (IllegalStateException e) {
            return connection.rethrowIfOpen(e);
        }
    }

    /** Parks the calling virtual thread until {@code call} is answered, for at most {@code nanos}. */
    void park(ShmClientCall call, long nanos) {
        call.waiter = Thread.currentThread();
        connection.end.listen();
        // The volatile store above precedes this check. The thread that answers checks the waiter after it has
        // answered.
        connection.end.reactor().wakeIfIdle();
        if (!call.isAnswered()) {
            LockSupport.parkNanos(nanos);
            if (nanos == AnswerWaiting.MAX_SLEEP_NANOS && connection.end.hasServerOnThisHost() && isUnwoken(call)) {
                countIfLost(call);
            }
        }
        call.waiter = null;
    }

    private static boolean isUnwoken(ShmClientCall call) {
        return call.waiter != null && call.isAnswered();
    }

    /** The reactor's sleep may be about to end, too: it then finds this thread, and counts. */
    private void countIfLost(ShmClientCall call) {
        LockSupport.parkNanos(LostWakeUps.grace());
        if (isUnwoken(call) && connection.isOpen() && connection.end.reactor().isUnaware()) {
            LostWakeUps.found("a virtual thread on channel " + connection.spec.channel());
        }
    }

    @Override
    public boolean hasUnrungAnswer() {
        if (connection.hasRestingServer()) {
            for (ShmClientCall call : calls) {
                if ((call.isAsync() || call.waiter != null) && call.isAnswered()) {
                    return true;
                }
            }
        }
        return false;
    }

    @Override
    public boolean isAwaited() {
        if (!controls.isEmpty() || !queue.isEmpty()) {
            return true;
        }
        boolean slotsWanted = connection.slots.queue.hasWaiters();
        for (ShmClientCall call : calls) {
            if ((slotsWanted ? call.isUnattended() : call.isAsync()) || call.waiter != null) {
                return true;
            }
        }
        return false;
    }

    @Override
    public int helped() {
        return helped;
    }

    @Override
    public long expire(long systemNow, long bound) {
        long now = connection.clock.ofSystem(systemNow);
        long next = queue.expire(now, bound);
        for (ShmClientCall call : calls) {
            RpcFuture<?> future = call.future;
            if (future != null && call.isAsync()) {
                long left = future.remaining(now);
                if (left <= 0) {
                    future.expire();
                } else {
                    next = Math.min(next, left);
                }
            }
        }
        return Math.max(next, TimeUnit.MICROSECONDS.toNanos(1));
    }

    // ---- control requests

    /**
     * Sends a control request that no caller waits for, now or when a slot is free. The request must not get lost:
     * without a cancellation or release, the server would keep a handler or memory until the connection ends.
     */
    void control(int op, long operand) {
        try {
            ShmClientCall call = beginControl(op, operand);
            if (call != null) {
                call.sendControl(op);
            } else if (op != ControlOp.CANCEL || !connection.end.ringCancelled(operand)) {
                // The calls to cancel may hold all slots, so a cancellation can also travel over the bell.
                controls.add(new ControlRequest(op, operand));
                waitingControls.incrementAndGet();
                connection.end.reactor().wakeIfIdle();
            }
        } catch (RpcException e) {
            forgetControls();
        }
    }

    /** Null if there is no free slot. */
    private ShmClientCall beginControl(int op, long operand) {
        ShmClientCall call = connection.slots.tryClaim();
        if (call != null) {
            call.beginControl(op, operand);
        }
        return call;
    }

    /** The connection has ended, and the requests with it. */
    private void forgetControls() {
        controls.clear();
        waitingControls.set(0);
    }

    /**
     * Called before a call takes a slot: those requests come first. Otherwise calls that take each slot as it becomes
     * free would keep the server from releasing memory, until it has none left for their results.
     */
    void sendControlsFirst() {
        if (waitingControls.get() != 0) {
            flushControls();
        }
    }

    @Override
    public void flushControls() {
        // If the thread with the lock overlooks the last one, the reactor sends it.
        if (waitingControls.get() == 0 || !sendingControls.tryLock()) {
            return;
        }
        try {
            for (ControlRequest next = controls.peek(); next != null; next = controls.peek()) {
                ShmClientCall call = beginControl(next.op, next.operand);
                if (call == null) {
                    return;
                }
                // Before it is sent: if the ring fails, the server has the request all the same.
                if (controls.poll() != null) {
                    waitingControls.decrementAndGet();
                }
                call.sendControl(next.op);
            }
        } catch (RpcException e) {
            forgetControls();
        } finally {
            sendingControls.unlock();
        }
    }

    /**
     * Sends the one-way calls that wait, as slots become free, until {@code end}, a nanoTime; returns how many still
     * wait. Does not wait on the reactor's thread, where an observer may have closed the channel.
     */
    int sendOneWay(long end) {
        int left = queue.isEmpty() ? 0 : queue.oneWay();
        boolean mayWait = !connection.end.reactor().isCurrent();
        while (left > 0 && mayWait && connection.isOpen() && end - System.nanoTime() > 0) {
            if (poll() == 0) {
                LockSupport.parkNanos(NAP_NANOS);
            }
            left = queue.oneWay();
        }
        return left;
    }

    /** The connection has ended: ends every call that waits here. */
    void loseAll() {
        queue.loseAll(connection.end.failure());
        for (ShmClientCall call : calls) {
            RpcFuture<?> future = call.future;
            if (future != null && call.isAsync()) {
                // An answer that the server published before it ended counts, unless this side ended the connection.
                if (connection.end.isClosedHere() || !future.finish()) {
                    future.lose(connection.end.failure());
                }
            }
            unpark(call);
        }
    }
}
