package dev.rackcall.route;

import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.MemoryClaim;
import dev.rackcall.rpc.balance.Subchannel;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.shm.Scope;
import java.lang.ref.WeakReference;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A connection over one {@link EndpointRoute}, with the claim for its memory. Thread-safe. */
final class RouteSubchannel extends Subchannel {
    /** How long returned shared objects stay readable after the subchannel was left. */
    private static final long GRACE_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** How long a subchannel that was left stays open for calls that picked it just before. */
    private static final long LATECOMERS_NANOS = TimeUnit.SECONDS.toNanos(1);

    /** Why calls no longer use it. */
    enum Left {
        /** A nearer route works. Objects in its memory may still be in use. */
        FOR_A_BETTER_ONE,
        /** Its peer takes no calls any more. */
        ENDED,
        /** Its memory is no longer shared, so no objects may be built there. */
        MEMORY_GONE
    }

    private static final Logger LOG = LoggerFactory.getLogger(RouteSubchannel.class);

    private final EndpointRoute route;
    /** The claim for its memory. */
    private final Optional<MemoryClaim> memory;

    private volatile String leaving = "";
    private volatile boolean closed;
    private volatile boolean rejected;
    private long leftAt;
    private Left how = Left.FOR_A_BETTER_ONE;
    private final List<WeakReference<Scope>> scopes = new ArrayList<>();

    RouteSubchannel(EndpointRoute route, ClientConnection connection, Optional<MemoryClaim> memory) {
        super(connection);
        this.route = route;
        this.memory = memory;
    }

    EndpointRoute route() {
        return route;
    }

    int rank() {
        return EndpointRoutes.rank(route.kind());
    }

    // ---- scopes

    @Override
    public Scope newScope(long firstBytes, boolean shared) {
        Scope scope = super.newScope(firstBytes, shared);
        synchronized (scopes) {
            scopes.removeIf(each -> isOver(each.get()));
            scopes.add(new WeakReference<>(scope));
        }
        return scope;
    }

    private static boolean isOver(Scope scope) {
        return scope == null || !scope.isOpen();
    }

    /** Whether a scope of its memory is open. */
    private boolean hasScopes() {
        synchronized (scopes) {
            scopes.removeIf(each -> isOver(each.get()));
            return !scopes.isEmpty();
        }
    }

    // ---- the end

    /**
     * Marks it as unable to take the calls of the channel's stubs. Its route leaves it then, and reconnects; until it is
     * closed, calls in flight and held objects stay.
     */
    void reject() {
        rejected = true;
    }

    boolean isRejected() {
        return rejected;
    }

    /** Leaves the subchannel: it gets no new calls. */
    void leave(String why, Left reason) {
        leaving = why;
        leftAt = System.nanoTime();
        how = reason;
    }

    String whyLeaving() {
        return leaving;
    }

    /** Whether a subchannel that was left is unused. */
    boolean isForsaken() {
        long since = System.nanoTime() - leftAt;
        boolean idle = connection().callsUnderWay() == 0 && !hasStreams();
        return switch (how) {
            // Calls in flight end in any case: by their answers, or with the connection.
            case MEMORY_GONE -> idle && since > LATECOMERS_NANOS;
            case ENDED -> idle && since > LATECOMERS_NANOS && !isHeld(leftAt);
            case FOR_A_BETTER_ONE -> idle && since > GRACE_NANOS && !hasScopes() && !isHeld(leftAt);
        };
    }

    /** Ends its connection and releases its memory claim. */
    void close() {
        try {
            connection().close();
        } finally {
            closed = true;
            giveBack(memory);
        }
    }

    /** Whether {@link #close} is done; until then, it may send requests to the peer. */
    boolean isClosed() {
        return closed;
    }

    /** Releases a claim. If the directory does not answer within its time limit, the claim is released later. */
    static void giveBack(Optional<MemoryClaim> memory) {
        try {
            memory.ifPresent(MemoryClaim::close);
        } catch (DirectoryException e) {
            LOG.debug("memory is released later: {}", e.getMessage());
        }
    }

    @Override
    public String toString() {
        return route.toString();
    }
}
