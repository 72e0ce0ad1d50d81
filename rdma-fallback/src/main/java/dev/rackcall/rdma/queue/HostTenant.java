package dev.rackcall.rdma.queue;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.cp.client.Patience;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/**
 * This process as a tenant of the agent process that serves in a folder, and of its successors. A thread of its own
 * joins the agent at the first use. Each caller waits for that with its own {@link Patience}, and no caller delays
 * another. Lives as long as the process. Thread-safe.
 */
final class HostTenant {
    private static final Duration PAUSE = Duration.ofMillis(10);

    private final Supplier<Path> folder;
    private volatile Optional<Tenant> joined = Optional.empty();
    /** The last attempt. Guarded by the monitor, which is only held briefly. */
    private Optional<CompletableFuture<Tenant>> attempt = Optional.empty();

    /** @param folder where the agent serves */
    HostTenant(Supplier<Path> folder) {
        this.folder = folder;
    }

    /** The tenant, once it has joined. */
    Optional<Tenant> present() {
        return joined;
    }

    /** Why it cannot join now, if there is an obstacle. Does not block. */
    Optional<String> obstacle() {
        Path where = folder.get();
        return AgentFolder.isServed(where)
                ? Optional.empty()
                : Optional.of("this process takes no part in a control plane: no agent process serves in " + where
                        + ", and QueueSettings.use has named no other agent");
    }

    /**
     * Joins at the first call.
     *
     * @throws RpcException UNAVAILABLE if no agent process serves there, or it does not answer in time
     * @throws ControlPlaneException if the agent rejects this process
     */
    Tenant get() {
        long end = System.nanoTime() + Patience.left().toNanos();
        Optional<Tenant> tenant = joined;
        while (tenant.isEmpty()) {
            tenant = await(end);
        }
        return tenant.get();
    }

    /** Empty if the caller should try again. */
    private Optional<Tenant> await(long end) {
        CompletableFuture<Tenant> made = attempt();
        try {
            return Optional.of(made.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS));
        } catch (TimeoutException e) {
            throw unavailable("the agent process that serves in %s has not taken this process in yet; is it stopped?");
        } catch (InterruptedException e) {
            throw interrupted();
        } catch (ExecutionException e) {
            pauseIfItMayGoOn(e.getCause(), end);
            return Optional.empty();
        }
    }

    /** An agent process that has just started does not listen yet. */
    private void pauseIfItMayGoOn(Throwable cause, long end) {
        boolean isAbsent = cause instanceof ControlPlaneException e && e.kind() == Kind.UNREACHABLE;
        if (isAbsent && !AgentFolder.isServed(folder.get())) {
            throw unavailable(
                    "this process has no tenant of the control plane, so no virtual queue leads anywhere, and no"
                            + " agent process serves in %s; start ./rackcall agent, or open an Agent and give QueueSettings.use"
                            + " what Agent.admit returns");
        }
        if (!isAbsent || System.nanoTime() - end >= 0) {
            switch (cause) {
                case RuntimeException e -> throw e;
                case Error e -> throw e;
                default -> throw new IllegalStateException("nothing else is thrown there", cause);
            }
        }
        try {
            Thread.sleep(PAUSE);
        } catch (InterruptedException e) {
            throw interrupted();
        }
    }

    private RpcException unavailable(String text) {
        return Status.Code.UNAVAILABLE.with(text, folder.get()).asException();
    }

    private static RpcException interrupted() {
        Thread.currentThread().interrupt();
        return Status.Code.CANCELLED
                .with("interrupted while this host's agent process was to take this process in")
                .asException();
    }

    private synchronized CompletableFuture<Tenant> attempt() {
        if (attempt.filter(last -> !last.isCompletedExceptionally()).isEmpty()) {
            CompletableFuture<Tenant> next = new CompletableFuture<>();
            // Before the attempt is stored: if no thread can be started, the next caller tries again.
            Thread.ofPlatform().daemon().name("rackcall-join").start(() -> join(next));
            attempt = Optional.of(next);
        }
        return attempt.get();
    }

    private void join(CompletableFuture<Tenant> next) {
        try {
            Tenant made = AgentFolder.join(
                    folder.get(), "process " + ProcessHandle.current().pid());
            joined = Optional.of(made);
            next.complete(made);
        } catch (RuntimeException | Error e) {
            next.completeExceptionally(e);
        }
    }
}
