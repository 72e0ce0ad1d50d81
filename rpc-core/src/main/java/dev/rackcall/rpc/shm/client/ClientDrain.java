package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.shm.protocol.ControlOp;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * A connection's part in the drain of its server. The server ends the connection, within its bound, only once it knows
 * that no request is on its way and that callers hold no objects. Releases tell it of results; this class tells it of the
 * last call and of open scopes.
 *
 * <p>Thread-safe, without a lock: it reads counters. Callers never wait here, and the reactor does not either. What has
 * to wait looks once per millisecond, on a virtual thread of its own, so callers need not wake it.
 */
final class ClientDrain {
    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(1);

    /** The connection to the server. */
    interface Connection {
        boolean hasEnded();

        /** Sends a control request that no caller waits for, now or as soon as there is room. */
        void control(int op, long operand);
    }

    private final Connection connection;
    private final CallQueue queue;
    private final UnreleasedResults unreleased;
    private final ClientMemory memory;

    /** Calls that began without a slot and are not in the queue yet. */
    private final AtomicInteger toBeQueued = new AtomicInteger();

    ClientDrain(Connection connection, CallQueue queue, UnreleasedResults unreleased, ClientMemory memory) {
        this.connection = connection;
        this.queue = queue;
        this.unreleased = unreleased;
        this.memory = memory;
    }

    // ---- for callers

    /**
     * A call without a slot begins. The caller then reads whether the connection is usable; {@link #begin} follows the
     * store that made it unusable. All of these are volatile: either the call is refused, or the last-call request waits
     * for it.
     */
    void callBegins() {
        toBeQueued.incrementAndGet();
    }

    /** Such a call is in the queue, or it was abandoned. */
    void callQueuedOrAbandoned() {
        toBeQueued.decrementAndGet();
    }

    /** Calls between {@link #callBegins} and {@link #callQueuedOrAbandoned}. */
    int toBeQueued() {
        return toBeQueued.get();
    }

    /** Whether callers hold results or scopes. Only while the connection is open. */
    boolean hasHeldObjects() {
        return !unreleased.isEmpty() || memory.hasOpenScopes();
    }

    // ---- for the reactor

    /** The server drains, and the connection is not usable any more. Called once at most. Does not wait. */
    void begin() {
        if (areAllSent() && !memory.hasOpenScopes()) {
            connection.control(ControlOp.LAST_CALL, 0);
        } else {
            Thread.ofVirtual().name("rackcall-last-call").start(this::tellOfLastCall);
        }
    }

    private void tellOfLastCall() {
        restUntil(this::areAllSent);
        if (memory.hasOpenScopes()) {
            connection.control(ControlOp.LAST_CALL, ControlOp.SCOPES_ARE_OPEN);
            restUntil(() -> !memory.hasOpenScopes());
        }
        connection.control(ControlOp.LAST_CALL, 0);
    }

    /** Waits until that is so or the connection has ended. */
    private void restUntil(BooleanSupplier condition) {
        while (!connection.hasEnded() && !condition.getAsBoolean()) {
            LockSupport.parkNanos(POLL_NANOS);
        }
    }

    private boolean areAllSent() {
        // The counter first: a call enters the queue before it leaves the counter.
        return toBeQueued.get() == 0 && queue.isEmpty();
    }
}
