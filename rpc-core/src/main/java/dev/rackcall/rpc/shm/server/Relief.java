package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.spi.CallThread;
import dev.rackcall.rpc.spi.LimitedLog;
import dev.rackcall.rpc.spi.Uninterrupted;
import dev.rackcall.shm.os.Starvation;
import java.lang.foreign.Arena;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * Ensures that exactly one thread polls, even if a handler on it never returns: another thread then takes over, and the
 * stuck one only ends its own call when it returns.
 *
 * <p>A call pays two opaque stores and one load for this. The rare take-over pays the rest. The watcher clears {@link
 * #onDuty} and makes every thread pass a handshake, by closing a shared memory arena. After that the thread's {@link
 * Marks} decide: either it is in a handler and will find that it was relieved, or it has left the handler and stays on
 * duty.
 */
final class Relief<C extends Relief.Served> {
    /** A connection whose calls the thread on duty serves. */
    interface Served {
        /**
         * The full name of the method whose handler the thread on duty runs. Called by the watcher while that thread is
         * stuck in it.
         */
        String handling();

        /** A handler has not returned, and its thread was relieved. */
        void handlerIsStuck();

        /** A relieved thread's handler has returned. */
        void handlerIsBack();
    }

    private static final LimitedLog LOG = LimitedLog.of(Relief.class);
    /**
     * Maximum number of relieved threads in stuck handlers. Beyond it the poller waits for its handler instead of
     * leaking more threads.
     */
    private static final int MAX_STUCK = 256;

    /** Checks in a row at which a thread may be starved before it is relieved all the same. */
    private static final int MOST_STARVED = 5;

    private static final VarHandle IN_HANDLER;
    private static final VarHandle ENTERED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            IN_HANDLER = lookup.findVarHandle(Marks.class, "inHandler", boolean.class);
            ENTERED = lookup.findVarHandle(Marks.class, "entered", long.class);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private final Supplier<Thread> threads;
    /** Called on a relieved thread whose handler has returned. */
    private final Consumer<C> onBack;
    /** See {@link #slice}. */
    private volatile int slice;

    private final AtomicInteger stuck = new AtomicInteger();

    /** Null while the watcher decides. */
    private volatile Thread onDuty;

    /** The marks of the thread on duty; replaced by the watcher only while that thread is in a handler. */
    private Marks<C> marks = new Marks<>();

    /** {@code entered} at the watcher's last check. */
    private long enteredBefore = -1;

    /** Whether the thread on duty starves in its handler; null until it runs. */
    private volatile Starvation starvation;

    private int checksStarved;

    Relief(Runnable body, String name, Consumer<C> onBack) {
        this(body, task -> new CallThread(task, name), onBack, Starvation::ofCurrentThread);
    }

    /**
     * For threads that a test makes.
     *
     * @param starvations makes the record of the calling thread
     */
    Relief(Runnable body, Function<Runnable, Thread> maker, Consumer<C> onBack, Supplier<Starvation> starvations) {
        this.onBack = onBack;
        this.threads = () -> maker.apply(() -> {
            // A successor starts before onDuty names it.
            if (isOnDuty()) {
                starvation = starvations.get();
                body.run();
            }
        });
    }

    void start() {
        Thread thread = threads.get();
        onDuty = thread;
        thread.start();
    }

    /** Called by the thread on duty, which passes the result to {@link #leave}. */
    Marks<C> enter(C connection) {
        Marks<C> mine = marks;
        mine.enter(connection);
        return mine;
    }

    /** Returns whether the current thread is still on duty. */
    boolean leave(Marks<C> mine) {
        IN_HANDLER.setOpaque(mine, false);
        if (isOnDuty()) {
            return true;
        }
        stuck.decrementAndGet();
        mine.serving.handlerIsBack();
        onBack.accept(mine.serving);
        return false;
    }

    /** Whether the thread on duty is in a handler. Any thread; the answer may concern the previous thread on duty. */
    boolean isInHandler() {
        return (boolean) IN_HANDLER.getOpaque(marks);
    }

    /**
     * A number that changes at each check for stuck handlers, and when waiting requests are to be counted. A change
     * ends the turn of the connection being served, even if it has more requests. Costs one load; reading the clock
     * would cost more than a call.
     */
    int slice() {
        return slice;
    }

    /** Begins a new slice. Any thread; two simultaneous calls may count as one. */
    @SuppressWarnings("NonAtomicVolatileUpdate")
    void nextSlice() {
        slice++;
    }

    boolean isOnDuty() {
        Thread thread = onDuty;
        while (thread == null) {
            Thread.onSpinWait();
            thread = onDuty;
        }
        return thread == Thread.currentThread();
    }

    /**
     * Called periodically by one watching thread: relieves a thread that is still in the same handler as at the
     * previous check. A handler whose thread gets no processor is given some more checks: its successor would compete
     * for the processors, too.
     */
    void relieveIfStuck() {
        long now = (long) ENTERED.getOpaque(marks);
        boolean inHandler = (boolean) IN_HANDLER.getOpaque(marks);
        boolean same = inHandler && now == enteredBefore;
        enteredBefore = now;
        if (inHandler && isHandlerStarved() && same && ++checksStarved <= MOST_STARVED) {
            return;
        }
        checksStarved = 0;
        if (same && stuck.get() < MAX_STUCK) {
            relieve(now);
        }
    }

    private boolean isHandlerStarved() {
        Starvation current = starvation;
        return current != null && current.lasts(System.nanoTime());
    }

    private void relieve(long enteredThen) {
        Thread before = onDuty;
        Thread after = before;
        Marks<C> stale = marks;
        String method = "";
        onDuty = null;
        try {
            Arena.ofShared().close();
            if ((boolean) IN_HANDLER.getAcquire(stale) && (long) ENTERED.getOpaque(stale) == enteredThen) {
                Thread next = threads.get();
                // Fails if the process cannot start more threads; then the stuck thread stays on duty.
                next.start();
                after = next;
                method = stale.serving.handling();
                stale.serving.handlerIsStuck();
                stuck.incrementAndGet();
                marks = new Marks<>();
                enteredBefore = -1;
            }
        } finally {
            onDuty = after;
        }
        if (after != before) {
            warn(method, before);
        }
    }

    private void warn(String method, Thread relieved) {
        LOG.warn(
                "the handler of {} has not returned on thread {}, which {}; another thread polls on ({} such handlers now)."
                        + " Handlers that take long belong on Dispatch.workers or Dispatch.virtualThreads",
                method,
                relieved.getName(),
                // A thread that the kernel does not schedule looks like one that computes.
                relieved.getState() == Thread.State.RUNNABLE ? "computes, or gets no processor" : "waits",
                stuck.get());
    }

    /** Waits for the thread on duty to end; returns whether it has, or is the current thread. */
    boolean join(Duration bound) {
        Thread thread = onDuty;
        if (thread == null || thread == Thread.currentThread()) {
            return true;
        }
        try (Uninterrupted waits = new Uninterrupted()) {
            return waits.await(bound.toNanos(), left -> thread.join(Duration.ofNanos(left)));
        }
    }

    /**
     * The state that a thread on duty shows the watcher. Each thread has its own, so that a relieved thread's return
     * from its handler is not mistaken for its successor's.
     */
    static final class Marks<C> {
        /** Whether the thread is in a handler. */
        @SuppressWarnings("unused") // IN_HANDLER
        private boolean inHandler;

        /**
         * The connection whose call the thread entered last; stored only on change, since a reference store costs a
         * barrier.
         */
        private C serving;

        /** The number of handlers it has entered. */
        private long entered;

        private void enter(C connection) {
            if (serving != connection) {
                serving = connection;
            }
            ENTERED.setOpaque(this, entered + 1);
            // Release: a thread that sees the mark also sees the connection.
            IN_HANDLER.setRelease(this, true);
        }
    }
}
