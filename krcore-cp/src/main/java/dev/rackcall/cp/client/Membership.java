package dev.rackcall.cp.client;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.session.CachedPlatformThreads;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * A tenant's session with the present life of the agent process. When the agent has died, a thread joins the next one
 * and registers the lasting regions there. Threads that need an agent wait within their own time limit, without a
 * lock. Any thread may use it.
 */
final class Membership {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final ExecutorService JOINING = CachedPlatformThreads.create("rackcall-agent-next");

    private final Path socket;
    private final String name;
    private final CountDownLatch closed = new CountDownLatch(1);
    /** Written with the monitor, which is never held for long; read without it. */
    private volatile TenantSession present;
    /** Regions that are registered with each new agent. Guarded by the monitor, with what follows. */
    private final Set<ForeignRegion> lasting = new HashSet<>();

    private Optional<CompletableFuture<TenantSession>> next = Optional.empty();

    /** Joins the agent that listens at this socket, by an {@link AgentHandshake}. */
    Membership(Path socket, String name) {
        this.socket = socket;
        this.name = name;
        present = AgentHandshake.say(socket, name, Patience.begin());
    }

    /** The session with the living agent, or with the last one. */
    TenantSession present() {
        return present;
    }

    boolean isClosed() {
        return closed.getCount() == 0;
    }

    private void requireOpen() {
        if (isClosed()) {
            throw over();
        }
    }

    private ControlPlaneException over() {
        return new ControlPlaneException(Kind.QUEUE_FAILED, "tenant " + name + " is closed; join again");
    }

    /**
     * The session with the living agent; waits for one if needed.
     *
     * @throws ControlPlaneException UNREACHABLE if there is none in time; QUEUE_FAILED if this is closed; or the
     *     agent's refusal
     */
    TenantSession living(Patience patience) {
        requireOpen();
        Optional<ControlPlaneException> why = Optional.empty();
        TenantSession found = present;
        while (found.isDead()) {
            why = awaitNext(patience, why);
            requireOpen();
            found = present;
        }
        return found;
    }

    /**
     * Waits for the next agent for a while.
     *
     * @param before the failure of the former attempt
     * @return the failure of this attempt, if it failed
     */
    private Optional<ControlPlaneException> awaitNext(Patience patience, Optional<ControlPlaneException> before) {
        try {
            TenantSession _ = patience.await(next(), "waiting for the next agent process");
            return Optional.empty();
        } catch (TimeoutException e) {
            throw before.orElseGet(() -> silent(patience));
        } catch (ExecutionException e) {
            ControlPlaneException why = asFailure(e.getCause());
            if (why.kind() != Kind.UNREACHABLE || patience.isOver()) {
                throw why;
            }
            pause(patience);
            return Optional.of(why);
        }
    }

    private ControlPlaneException silent(Patience patience) {
        return new ControlPlaneException(
                Kind.UNREACHABLE,
                "the agent process has ended, and the next one at " + socket + " has not admitted this tenant within "
                        + patience + "; is it stopped?");
    }

    /** A copy for each thread that throws it. */
    private static ControlPlaneException asFailure(Throwable cause) {
        if (cause instanceof ControlPlaneException e) {
            ControlPlaneException own = new ControlPlaneException(e.kind(), e.getMessage());
            own.initCause(e);
            return own;
        }
        throw new IllegalStateException("the next agent process could not be joined: " + cause, cause);
    }

    private void pause(Patience patience) {
        try {
            // Ends early when this is closed.
            boolean _ = closed.await(Math.min(PAUSE_NANOS, patience.nanosLeft()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            throw Patience.interrupted("waiting for the next agent process");
        }
    }

    /** The current attempt to join, or a new one. */
    private synchronized CompletableFuture<TenantSession> next() {
        if (!present.isDead()) {
            return CompletableFuture.completedFuture(present);
        }
        if (next.filter(attempt -> !attempt.isDone()).isEmpty()) {
            CompletableFuture<TenantSession> attempt = new CompletableFuture<>();
            // Before the field is set: if no thread can be started, the next caller tries again.
            JOINING.execute(() -> join(attempt));
            next = Optional.of(attempt);
        }
        return next.get();
    }

    private void join(CompletableFuture<TenantSession> attempt) {
        try {
            TenantSession made = AgentHandshake.say(socket, name, Patience.begin());
            try {
                takeOver(made);
            } catch (RuntimeException | Error e) {
                made.close();
                throw e;
            }
            attempt.complete(made);
        } catch (RuntimeException | Error e) {
            attempt.completeExceptionally(e);
        }
    }

    /**
     * Registers all lasting regions before the new agent is used; otherwise callers would find regions with keys of
     * another life.
     */
    private void takeOver(TenantSession made) {
        while (!isTakenOver(made)) {
            for (ForeignRegion region : without(made)) {
                region.renew(made);
            }
        }
    }

    private synchronized boolean isTakenOver(TenantSession made) {
        requireOpen();
        boolean isComplete = without(made).isEmpty();
        if (isComplete) {
            present.close();
            present = made;
        }
        return isComplete;
    }

    private synchronized List<ForeignRegion> without(TenantSession made) {
        return lasting.stream().filter(region -> !region.isAt(made)).toList();
    }

    /** Adds a lasting region; returns false if its agent has been replaced, so that it must be registered again. */
    synchronized boolean keep(ForeignRegion region, TenantSession where) {
        requireOpen();
        boolean isPresent = where == present;
        if (isPresent) {
            lasting.add(region);
        }
        return isPresent;
    }

    synchronized void forget(ForeignRegion region) {
        lasting.remove(region);
    }

    /** Ends the session; returns the lasting regions. */
    List<ForeignRegion> close() {
        List<ForeignRegion> left;
        synchronized (this) {
            closed.countDown();
            left = List.copyOf(lasting);
            lasting.clear();
            // Wakes the threads that wait for it.
            next.ifPresent(attempt -> attempt.completeExceptionally(over()));
        }
        present.closeWithQueues();
        return left;
    }
}
