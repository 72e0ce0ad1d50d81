package dev.rackcall.route;

import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.MemoryClaim;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.shm.Scope;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A connection over one {@link EndpointRoute}, with what is known of how calls fare there. Thread-safe. */
final class Subchannel {
    /** In a row, after which others are preferred. */
    static final int FAILURES = 5;

    private static final long FIRST_EJECTION_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final int MOST_DOUBLINGS = 6;
    /** What calls have returned by pointer stays readable that long after their subchannel was left. */
    private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** For calls that have picked the subchannel just before it was left. */
    private static final long LATECOMERS_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Why calls no longer go there. */
    enum Left {
        /** A nearer route works. What lies in its memory is still used. */
        FOR_A_BETTER_ONE,
        /** Its peer takes no calls any more. */
        ENDED,
        /** What it stands on is no longer shared, so that nobody is to build anything there any more. */
        MEMORY_GONE
    }

    private static final Logger LOG = LoggerFactory.getLogger(Subchannel.class);

    private final EndpointRoute route;
    private final ClientConnection connection;
    /** What this process may map for it. */
    private final Optional<MemoryClaim> memory;

    private final AtomicInteger calls = new AtomicInteger();
    private final AtomicInteger failures = new AtomicInteger();
    private final List<WeakReference<Scope>> scopes = new ArrayList<>();
    /** The latest deadline of a stream that was read here. */
    private final AtomicLong streamsEnd = new AtomicLong(System.nanoTime());

    private volatile double weight = 1;
    private volatile boolean ejected;
    private volatile long ejectedUntil;
    private final AtomicInteger ejections = new AtomicInteger();
    private volatile String leaving = "";
    private volatile boolean closed;
    private long leftAt;
    private Left how = Left.FOR_A_BETTER_ONE;

    Subchannel(EndpointRoute route, ClientConnection connection, Optional<MemoryClaim> memory) {
        this.route = route;
        this.connection = connection;
        this.memory = memory;
    }

    EndpointRoute route() {
        return route;
    }

    int rank() {
        return EndpointRoutes.rank(route.kind());
    }

    ClientConnection connection() {
        return connection;
    }

    boolean isUsable() {
        return connection.isUsable();
    }

    // ---- calls

    /** Counted calls under route. */
    int calls() {
        return calls.get();
    }

    void begun() {
        calls.incrementAndGet();
    }

    /** A stream has begun, whose reader may let much time pass between its pulls; whoever forgets to close it keeps the subchannel until its deadline. */
    void begunStream(long deadline) {
        streamsEnd.accumulateAndGet(deadline, (one, other) -> one - other > 0 ? one : other);
    }

    private boolean hasStreams() {
        return calls.get() > 0 && System.nanoTime() - streamsEnd.get() < 0;
    }

    void ended(Status.Code code) {
        calls.decrementAndGet();
        switch (code) {
            case UNAVAILABLE, DEADLINE_EXCEEDED, INTERNAL -> failed();
            default -> {
                // Also an error that a handler has chosen is an answer.
                if (failures.get() != 0) {
                    failures.set(0);
                }
            }
        }
    }

    private void failed() {
        if (failures.incrementAndGet() == FAILURES) {
            int before = ejections.getAndIncrement();
            ejectedUntil = System.nanoTime() + (FIRST_EJECTION_NANOS << Math.min(before, MOST_DOUBLINGS));
            failures.set(0);
            ejected = true;
        }
    }

    /** Whether others are to be preferred for now. */
    boolean isEjected() {
        if (ejected && System.nanoTime() - ejectedUntil >= 0) {
            ejected = false;
        }
        return ejected;
    }

    String whyEjected() {
        return FAILURES + " calls in a row have failed there; others are preferred for "
                + Math.max(0, TimeUnit.NANOSECONDS.toMillis(ejectedUntil - System.nanoTime())) + " ms";
    }

    /** What its server has said of its load: calls of all clients that are under route there; 0 if nothing is known that is still true. */
    void load(int callsThere) {
        weight = 1 / Math.sqrt(1.0 + callsThere);
    }

    /**
     * How often it is taken where others are as good: as the inverse square root of its server's load. What is known of that is seconds old, and all clients know the same: if all took the least loaded
     * one, that would be the most loaded one when they hear next, and with the inverse itself their shares would swing for ever. With the root each swing is smaller than the one before.
     */
    double weight() {
        return weight;
    }

    /**
     * The one with the fewest calls under route; of several of those by chance, and more often the one whose server has less to do ({@link Subchannel#weight}); one that fails often only if there is no
     * other. What this channel has under route it knows at once, and of the rest only what servers have told, so that comes second.
     *
     * @param tried by this call, without success: only if there is no other
     */
    static Subchannel pick(Subchannel[] subchannels, List<Subchannel> tried) {
        if (subchannels.length == 1) {
            return subchannels[0];
        }
        Subchannel best = null;
        long bestCost = Long.MAX_VALUE;
        double weights = 0;
        for (Subchannel subchannel : subchannels) {
            long cost = subchannel.calls();
            if (subchannel.isEjected()) {
                cost += 1L << 32;
            }
            if (!subchannel.isUsable()) {
                cost += 1L << 33;
            }
            if (!tried.isEmpty() && tried.contains(subchannel)) {
                cost += 1L << 34;
            }
            if (cost < bestCost) {
                bestCost = cost;
                best = subchannel;
                weights = subchannel.weight();
            } else if (cost == bestCost) {
                // Each of those that are as good ends up as the best with its share of the weights.
                weights += subchannel.weight();
                if (ThreadLocalRandom.current().nextDouble() * weights < subchannel.weight()) {
                    best = subchannel;
                }
            }
        }
        return best;
    }

    // ---- scopes

    Scope newScope(long firstBytes, boolean shared) {
        Scope scope = shared ? connection.newSharedScope(firstBytes) : connection.newScope(firstBytes);
        synchronized (scopes) {
            scopes.removeIf(each -> isOver(each.get()));
            scopes.add(new WeakReference<>(scope));
        }
        return scope;
    }

    private static boolean isOver(Scope scope) {
        return scope == null || !scope.isOpen();
    }

    private boolean hasScopes() {
        synchronized (scopes) {
            scopes.removeIf(each -> isOver(each.get()));
            return !scopes.isEmpty();
        }
    }

    // ---- the end

    /** Nothing new goes there from now on. */
    void leave(String why, Left reason) {
        leaving = why;
        leftAt = System.nanoTime();
        how = reason;
    }

    String whyLeaving() {
        return leaving;
    }

    /** Whether nobody uses a subchannel that was left any more. */
    boolean isForsaken() {
        long since = System.nanoTime() - leftAt;
        boolean idle = connection.callsUnderWay() == 0 && !hasStreams();
        return switch (how) {
            // Calls under route end in any case: by their answers, or with the connection.
            case MEMORY_GONE, ENDED -> idle && since > LATECOMERS_NANOS;
            case FOR_A_BETTER_ONE -> idle && since > GRACE_NANOS && !hasScopes();
        };
    }

    /** Ends its connection; what that had mapped counts no more. */
    void close() {
        try {
            connection.close();
        } finally {
            closed = true;
            giveBack(memory);
        }
    }

    /** Whether its connection has ended by {@link #close}, which may have had something to say to its peer. */
    boolean isClosed() {
        return closed;
    }

    /** Without waiting for a directory that does not answer longer than its time limit: it hears of it later. */
    static void giveBack(Optional<MemoryClaim> memory) {
        try {
            memory.ifPresent(MemoryClaim::close);
        } catch (DirectoryException e) {
            LOG.debug("memory is given back later: {}", e.getMessage());
        }
    }

    @Override
    public String toString() {
        return route.toString();
    }
}
