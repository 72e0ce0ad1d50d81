package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.spi.LimitedLog;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.shm.waiting.SpinTime;
import java.time.Duration;
import java.util.List;
import java.util.OptionalInt;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * A server's polling threads. Unless their number is given, there are as many as the load needs: one at first, another
 * when a poller with several busy connections finds no time to rest, and one less when a poller has slept for some
 * seconds. Connections move from a poller that is overloaded to one that is not.
 *
 * <p>Pollers that spin take processors from the callers of the same host, so a server starts at most one for each
 * {@value #PROCESSORS_PER_POLLER} processors.
 */
final class Pollers {
    private static final LimitedLog LOG = LimitedLog.of(Pollers.class);
    private static final int PROCESSORS_PER_POLLER = 4;
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);
    /** Consecutive looks at which a poller was overloaded before connections leave it. */
    private static final int LOOKS_OVERLOADED = 3;
    /** Consecutive looks at which a poller was asleep before it ends. */
    private static final int LOOKS_ASLEEP = 30;

    private static final long STOP_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final ServerSpec.Threads threads;
    private final Supplier<SpinTime> gaps;
    /** A server that drains or ends moves no connections: it could miss those that are on their way. */
    private final BooleanSupplier draining;

    private final Runnable woken;
    private final int least;
    private final int most;
    /** Changed by the watching thread. */
    private final List<Poller> pollers = new CopyOnWriteArrayList<>();
    /** Orders to move connections that their poller has not carried out. */
    private final AtomicInteger moves = new AtomicInteger();

    /** It ends, and its connections go to another; null: none does. Set under this object's lock. */
    private Poller leaving;

    private int started;
    private long lastLook = System.nanoTime();

    /**
     * Pollers with their threads started.
     *
     * @param gaps makes each poller's record of the gaps between its requests
     * @param woken called by a polling thread when it may have something to do
     */
    static Pollers start(
            ServerSpec.Threads threads, Supplier<SpinTime> gaps, BooleanSupplier draining, Runnable woken) {
        OptionalInt given = threads.pollers();
        int byProcessors = Math.max(1, Runtime.getRuntime().availableProcessors() / PROCESSORS_PER_POLLER);
        // A poller that never sleeps would not end after a burst either.
        int most = threads.waiting().sleeps() ? byProcessors : 1;
        return start(threads, gaps, draining, woken, given.orElse(1), given.orElse(most));
    }

    /** With other bounds, for tests. */
    static Pollers start(
            ServerSpec.Threads threads,
            Supplier<SpinTime> gaps,
            BooleanSupplier draining,
            Runnable woken,
            int least,
            int most) {
        Pollers all = new Pollers(threads, gaps, draining, woken, least, most);
        try {
            while (all.started < least) {
                all.startOne();
            }
        } catch (RuntimeException | Error e) {
            all.stop();
            throw e;
        }
        return all;
    }

    private Pollers(
            ServerSpec.Threads threads,
            Supplier<SpinTime> gaps,
            BooleanSupplier draining,
            Runnable woken,
            int least,
            int most) {
        this.threads = threads;
        this.gaps = gaps;
        this.draining = draining;
        this.woken = woken;
        this.least = least;
        this.most = most;
    }

    private Poller startOne() {
        Poller poller = Poller.start(threads.waiting(), gaps.get(), draining, woken, "rackcall-poll-" + started);
        started++;
        pollers.add(poller);
        LOG.debug("the server has {} polling threads", pollers.size());
        return poller;
    }

    List<Poller> all() {
        return pollers;
    }

    /** Hands a connection over to the poller with the fewest. Any thread. */
    synchronized void add(ShmServerConnection connection) {
        Poller quietest = null;
        for (Poller poller : pollers) {
            if (poller != leaving && (quietest == null || poller.connectionCount() < quietest.connectionCount())) {
                quietest = poller;
            }
        }
        quietest.add(connection);
    }

    // ---- the watching thread

    /** Called from time to time, also while all pollers sleep, by the thread that relieves pollers. */
    void balance() {
        long now = System.nanoTime();
        if (now - lastLook < LOOK_NANOS) {
            return;
        }
        lastLook = now;
        pollers.forEach(Poller::judge);
        // One change at a time: the next looks show what it has brought.
        if (most > 1 && moves.get() == 0 && !isAnyLeaving() && !draining.getAsBoolean() && !relieveOverloaded()) {
            endUnused();
        }
    }

    private boolean isAnyLeaving() {
        if (leaving != null && leaving.hasEnded()) {
            synchronized (this) {
                pollers.remove(leaving);
                leaving = null;
            }
        }
        return leaving != null;
    }

    private boolean relieveOverloaded() {
        for (Poller poller : pollers) {
            if (poller.looksOverloaded() >= LOOKS_OVERLOADED && poller.watchedConnections() > 1) {
                Poller other = leastBusyBut(poller);
                if ((other == null || !mayTakeFrom(poller, other)) && pollers.size() < most) {
                    other = tryStartOne();
                }
                if (other != null && mayTakeFrom(poller, other)) {
                    move(poller, other);
                    return true;
                }
            }
        }
        return false;
    }

    private static boolean mayTakeFrom(Poller poller, Poller other) {
        return poller.watchedConnections() > other.watchedConnections() + 1;
    }

    /** Null if all others are overloaded. */
    private Poller leastBusyBut(Poller asking) {
        Poller best = null;
        for (Poller poller : pollers) {
            if (poller != asking
                    && poller.looksOverloaded() == 0
                    && (best == null || poller.watchedConnections() < best.watchedConnections())) {
                best = poller;
            }
        }
        return best;
    }

    /** Null if the process can start no more threads, or has no descriptor for one. */
    private Poller tryStartOne() {
        try {
            return startOne();
        } catch (RuntimeException | Error e) {
            LOG.warn("an overloaded server cannot start another polling thread; it goes on with {}", pollers.size(), e);
            return null;
        }
    }

    private void move(Poller from, Poller to) {
        moves.incrementAndGet();
        to.expectLoad();
        from.post(() -> {
            try {
                from.shareWith(to);
            } finally {
                moves.decrementAndGet();
            }
        });
    }

    private void endUnused() {
        for (int i = pollers.size() - 1; i >= 0 && pollers.size() > least; i--) {
            Poller poller = pollers.get(i);
            if (poller.looksAsleep() >= LOOKS_ASLEEP) {
                // Its rare calls must not wait behind the requests of an overloaded poller.
                Poller heir = leastBusyBut(poller);
                if (heir != null) {
                    synchronized (this) {
                        leaving = poller;
                    }
                    poller.retire(heir);
                    return;
                }
            }
        }
    }

    /** Whether all sleep, and none is to end because it does. */
    boolean areResting() {
        for (Poller poller : pollers) {
            if (poller.isAwake()) {
                return false;
            }
        }
        return pollers.size() <= least;
    }

    /** Ends the turns of connections that always have more requests. */
    void nextSlice() {
        pollers.forEach(Poller::nextSlice);
    }

    /** Lets another thread take over from each poller that is still in the same handler as at the previous check. */
    void relieveIfStuck() {
        for (Poller poller : pollers) {
            try {
                poller.relieveIfStuck();
            } catch (RuntimeException | Error e) {
                LOG.error(
                        "no thread can be started that polls on beside a handler that has not returned; its other clients wait",
                        e);
            }
        }
    }

    /**
     * Ends all connections and threads. Called when no thread adds connections or calls the methods of the watching
     * thread any more.
     */
    void stop() {
        Duration stuckAfter = threads.stuckAfter();
        pollers.forEach(poller -> poller.stop(STOP_NANOS, stuckAfter));
    }
}
