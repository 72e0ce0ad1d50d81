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
 * A tenant's place at the agent process that lives now, over one life of the agent after the other. When one has died, a thread of its own joins the next and registers there the regions that last; whoever
 * needs an agent waits for that with his own time, and nobody holds a lock meanwhile. Any thread may use it.
 */
final class Membership {
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(10);
    private static final ExecutorService JOINING = CachedPlatformThreads.create("rackcall-agent-next");

    private final Path socket;
    private final String name;
    private final CountDownLatch closed = new CountDownLatch(1);
    /** Written with the monitor, of which none is waited in; read without. */
    private volatile TenantSession present;
    /** Those that each agent gets. Guarded by the monitor, with what follows. */
    private final Set<ForeignRegion> lasting = new HashSet<>();

    private Optional<CompletableFuture<TenantSession>> next = Optional.empty();

    /** Joins the agent that listens at this socket, as {@link AgentHandshake} says. */
    Membership(Path socket, String name) {
        this.socket = socket;
        this.name = name;
        present = AgentHandshake.say(socket, name, Patience.begin());
    }

    /** With the agent that lives, or the last one. */
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
     * With the agent that lives now, for which it waits if need be.
     *
     * @throws ControlPlaneException UNREACHABLE if there is none in time, QUEUE_FAILED if this is closed, or what the agent says
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
     * Waits for the next one, a while.
     *
     * @param before why there was none before
     * @return why there is none yet, if so
     */
    private Optional<ControlPlaneException> awaitNext(Patience patience, Optional<ControlPlaneException> before) {
        try {
            TenantSession _ = patience.await(next(), "the next agent process was waited for");
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
                "the agent process has ended, and the next one at " + socket + " has not taken this tenant in within "
                        + patience + "; is it stopped?");
    }

    /** One for each thread that hears of it. */
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
            // Ended by close, after which nobody is waited for.
            boolean _ = closed.await(Math.min(PAUSE_NANOS, patience.nanosLeft()), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            throw Patience.interrupted("the next agent process was waited for");
        }
    }

    /** The attempt to join it that is under way, or a new one. */
    private synchronized CompletableFuture<TenantSession> next() {
        if (!present.isDead()) {
            return CompletableFuture.completedFuture(present);
        }
        if (next.filter(attempt -> !attempt.isDone()).isEmpty()) {
            CompletableFuture<TenantSession> attempt = new CompletableFuture<>();
            // First: where no thread can be had, whoever comes next tries again.
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

    /** Nobody uses that agent before it has all regions that last: whoever found it would find regions with the keys of another life. */
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

    /** A region that each next agent gets; false if this agent is not the present one any more, which has nothing registered then. */
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

    /** Ends the session; returns what had lasted until now. */
    List<ForeignRegion> close() {
        List<ForeignRegion> left;
        synchronized (this) {
            closed.countDown();
            left = List.copyOf(lasting);
            lasting.clear();
            // Whoever waits for it hears of that now.
            next.ifPresent(attempt -> attempt.completeExceptionally(over()));
        }
        present.closeWithQueues();
        return left;
    }
}
