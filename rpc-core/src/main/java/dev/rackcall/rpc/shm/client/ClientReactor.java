package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.shm.protocol.LostWakeUps;
import dev.rackcall.rpc.spi.LimitedLog;
import dev.rackcall.shm.os.Affinity;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.Processor;
import dev.rackcall.shm.os.socket.EventPoll;
import dev.rackcall.shm.waiting.Processors;
import dev.rackcall.shm.waiting.SpinLimit;
import dev.rackcall.shm.waiting.SpinTime;
import dev.rackcall.shm.waiting.Spinning;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The one background thread of a client process. It notices dead servers, and takes the answers to asynchronous calls
 * that no caller polls for; other threads complete the futures. It sleeps in the kernel unless such calls are in
 * flight. It is a daemon that starts with the first connection.
 */
final class ClientReactor {
    private static final LimitedLog LOG = LimitedLog.of(ClientReactor.class);
    private static final long IDLE_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** Longest sleep while answers are awaited. Bounds the delay if a server never rings. */
    private static final long LONGEST_SLEEP_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    /** Interval at which the reactor checks whether waiting callers still poll. */
    private static final long HELPED_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** How long the reactor leaves an answer to its waiting caller. */
    private static final long GRACE_NANOS = TimeUnit.MICROSECONDS.toNanos(20);

    /** Consecutive polls before the reactor checks deadlines and sockets, even while answers keep arriving. */
    private static final int POLLS_PER_LOOK = 20_000;
    /** One in this many polls of a turn also covers the connections whose callers poll. */
    private static final int POLLS_PER_FULL_LOOK = 64;

    /** Pause after a failed turn, so that a permanent failure does not occupy a processor. */
    private static final long FAILED_TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    /** The calls of a connection that no caller polls for. */
    interface Polled {
        /** Whether an asynchronous call, a parked thread or a control request is waiting. */
        boolean isAwaited();

        /** Whether such a call or thread has an answer, and its server, which has stopped polling, did not ring for it. */
        boolean hasUnrungAnswer();

        /** Finishes the answered calls or unparks their threads; returns how many. */
        int poll();

        /** A number that changes while waiting callers poll themselves. */
        int helped();

        /**
         * Fails the calls whose deadline has passed; returns nanoseconds until the next deadline, at most {@code
         * bound}.
         *
         * @param now by {@link System#nanoTime}
         */
        long expire(long now, long bound);

        /** Sends the control requests that found no free slot before. */
        void flushControls();
    }

    /** A connection, and whether its waiting callers poll it themselves. Reactor's thread only. */
    private static final class Watched {
        final ClientEnd end;
        final Polled calls;
        private int before;

        Watched(ClientEnd end, Polled calls) {
            this.end = end;
            this.calls = calls;
            beginWait();
        }

        /** From now on, {@link #isHelped} looks for callers that poll. */
        final void beginWait() {
            before = calls.helped();
        }

        /** Whether a waiting caller has polled since the wait began. */
        boolean isHelped() {
            return calls.helped() != before;
        }
    }

    private final EventPoll poll = EventPoll.create();
    private final Map<Long, Watched> connections = new ConcurrentHashMap<>();
    private final AtomicLong tags = new AtomicLong();
    private final ReactorSleep sleep = new ReactorSleep(poll::wakeUp);

    private final Spinning inMemory = new Spinning(WaitStrategy.adaptive(), SpinTime.ofMemory());
    /** For turns in which any awaited answer comes through a device, or through a pool's bells. */
    private final Spinning onDevice = new Spinning(WaitStrategy.adaptive(), SpinTime.ofDevice());

    private final Thread thread;

    /** For tests, which watch their connections with a reactor of their own. */
    ClientReactor() {
        thread = new Thread(this::run, "rackcall-client");
        thread.setDaemon(true);
        thread.start();
    }

    /** Holder idiom: made with the first connection. */
    private static final class Shared {
        static final ClientReactor INSTANCE = new ClientReactor();
    }

    static ClientReactor shared() {
        return Shared.INSTANCE;
    }

    /** Whether the current thread is the reactor, which must not run users' code. */
    boolean isCurrent() {
        return Thread.currentThread() == thread;
    }

    /** Begins to watch a connection; returns the tag for {@link #remove}. */
    long add(ClientEnd end, Polled calls) {
        long tag = tags.incrementAndGet();
        connections.put(tag, new Watched(end, calls));
        try {
            if (!end.watch(poll, tag)) {
                throw new IllegalStateException("this end was closed before it was watched");
            }
        } catch (RuntimeException | Error e) {
            connections.remove(tag);
            throw e;
        }
        return tag;
    }

    void remove(long tag) {
        Watched removed = connections.remove(tag);
        if (removed != null) {
            removed.end.unwatch(poll);
        }
    }

    /** Wakes the reactor if it sleeps. The caller has announced its call and then fenced. */
    void wakeIfIdle() {
        sleep.wakeIfIdle();
    }

    /**
     * Whether the reactor sleeps and does not know that an answer is awaited: a lost wake-up if the caller has announced
     * its call and then woken the reactor.
     */
    boolean isUnaware() {
        return sleep.isUnaware();
    }

    private void run() {
        try {
            Affinity.asProcess();
        } catch (OsException e) {
            LOG.debug("the client's reactor stays on its starter's processors: {}", e.getMessage());
        }
        while (true) {
            try {
                turn();
            } catch (RuntimeException | Error e) {
                failed(e);
                LockSupport.parkNanos(FAILED_TURN_NANOS);
            }
        }
    }

    /** A failure of one connection must not affect those to other servers. */
    private static void failed(Throwable thrown) {
        LOG.warn("the client's reactor goes on after {}", thrown, thrown);
    }

    private void turn() {
        if (anyAwaited()) {
            serveAwaited();
        } else {
            sleep.announce();
            if (!anyAwaited()) {
                sleep.unaware(true);
                handle(await(IDLE_NANOS, true));
                sleep.unaware(false);
            }
            sleep.end();
        }
    }

    private boolean anyAwaited() {
        for (Watched connection : connections.values()) {
            if (connection.calls.isAwaited()) {
                return true;
            }
        }
        return false;
    }

    private void serveAwaited() {
        for (Watched connection : connections.values()) {
            connection.beginWait();
        }
        // Waiting callers poll themselves. Give them time to show it before the reactor competes with them for a core.
        handle(poll.await(GRACE_NANOS));
        if (areAllHelped()) {
            // Callers poll, so the reactor leaves the answers to them. It returns soon, since only this thread enforces
            // the deadlines of asynchronous calls. A thread that naps does not count among those that spin.
            expireAll();
            handle(poll.await(HELPED_NANOS));
            return;
        }
        Spinning spinning = isAnyOnDevice() ? onDevice : inMemory;
        spinning.begin();
        if (SpinLimit.enter(Processors.count())) {
            boolean goesOn;
            try {
                goesOn = spin(spinning);
            } finally {
                SpinLimit.leave();
            }
            if (goesOn) {
                return;
            }
        }
        sleepUntilAnswered(spinning);
    }

    /** Polls as long as that pays; returns whether the next turn is to poll again rather than sleep. */
    private boolean spin(Spinning spinning) {
        int polls = 0;
        long began = System.nanoTime();
        do {
            // All are polled now and then: a caller that polls may take its own answer only, and may stop.
            boolean isLook = polls % POLLS_PER_FULL_LOOK == 0;
            if ((isLook ? pollAll() : pollUnhelped()) > 0) {
                spinning.met();
                spinning.begin();
            }
            if (areAllHelped()) {
                return true;
            }
            boolean isLate = isLook && isAnyHelped() && System.nanoTime() - began > HELPED_NANOS;
            if (++polls >= POLLS_PER_LOOK || isLate) {
                expireAll();
                return true;
            }
            Thread.onSpinWait();
        } while (spinning.goesOn(sharesProcessor()));
        return false;
    }

    private boolean isAnyOnDevice() {
        for (Watched connection : connections.values()) {
            if (!connection.end.hasServerOnThisHost() && connection.calls.isAwaited()) {
                return true;
            }
        }
        return false;
    }

    /** Whether a server whose answer this thread awaits may need its processor. */
    private boolean sharesProcessor() {
        int processor = Processor.current();
        for (Watched connection : connections.values()) {
            if (connection.end.hasServerOn(processor) && !connection.isHelped() && connection.calls.isAwaited()) {
                return true;
            }
        }
        return false;
    }

    /** Ends the calls whose deadline has passed; returns nanoseconds until the next check. */
    private long expireAll() {
        long bound = LONGEST_SLEEP_NANOS;
        long now = System.nanoTime();
        for (Watched connection : connections.values()) {
            try {
                bound = connection.calls.expire(now, bound);
            } catch (RuntimeException | Error e) {
                failed(e);
            }
        }
        return bound;
    }

    private void sleepUntilAnswered(Spinning spinning) {
        long longest = LONGEST_SLEEP_NANOS;
        try {
            // Set before the servers are told: the server of a connection that is added later is not told, so the
            // connection's first call has to wake this thread.
            sleep.announce();
            for (Watched connection : connections.values()) {
                if (connection.isHelped()) {
                    // Its callers take the answers, so its server need not ring. The callers may stop at any time.
                    longest = HELPED_NANOS;
                } else {
                    connection.end.announceSleep(true);
                }
            }
            // The volatile stores above precede these checks, as in turn. A thread that queues a call or frees a slot
            // for one does so, fences, and then wakes the reactor.
            if (pollAll() == 0) {
                long nanos = Math.min(longest, expireAll());
                handle(nanos < LONGEST_SLEEP_NANOS ? poll.await(nanos) : await(nanos, false));
                spinning.slept();
            }
        } finally {
            sleep.end();
            for (Watched connection : connections.values()) {
                connection.end.announceSleep(false);
            }
        }
    }

    /**
     * Sleeps until an event, at most {@code nanos}. Counts an answer for which no thread woke the reactor.
     *
     * @param helpedToo also on connections whose callers poll: no sleep was announced there, and servers need not ring
     */
    private int await(long nanos, boolean helpedToo) {
        return LostWakeUps.sleep(
                nanos, poll::await, () -> sleep.isIdle() && hasUnrungAnswer(helpedToo), "the client's reactor");
    }

    private boolean hasUnrungAnswer(boolean helpedToo) {
        for (Watched connection : connections.values()) {
            if ((helpedToo || !connection.isHelped()) && connection.calls.hasUnrungAnswer()) {
                return true;
            }
        }
        return false;
    }

    private int pollAll() {
        int completed = 0;
        for (Watched connection : connections.values()) {
            completed += poll(connection);
        }
        return completed;
    }

    private int pollUnhelped() {
        int completed = 0;
        for (Watched connection : connections.values()) {
            if (!connection.isHelped()) {
                completed += poll(connection);
            }
        }
        return completed;
    }

    private static int poll(Watched connection) {
        try {
            int completed = connection.calls.poll();
            connection.calls.flushControls();
            return completed;
        } catch (RuntimeException | Error e) {
            failed(e);
            return 0;
        }
    }

    private boolean isAnyHelped() {
        for (Watched connection : connections.values()) {
            if (connection.isHelped()) {
                return true;
            }
        }
        return false;
    }

    /** Whether callers poll, and there is no other connection on which a call is awaited. */
    private boolean areAllHelped() {
        boolean isAny = false;
        for (Watched connection : connections.values()) {
            if (connection.isHelped()) {
                isAny = true;
            } else if (connection.calls.isAwaited()) {
                return false;
            }
        }
        return isAny;
    }

    private void handle(int events) {
        for (int i = 0; i < events; i++) {
            Watched connection = connections.get(poll.tag(i));
            if (connection != null) {
                try {
                    connection.end.readable();
                } catch (RuntimeException | Error e) {
                    failed(e);
                }
            }
        }
    }
}
