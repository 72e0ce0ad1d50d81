package dev.rackcall.directory;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executors;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The items of a directory that are bound to its lease, and the thread that notifies them when the lease is lost or
 * renewed.
 */
final class Leases implements DirectoryStore.LeaseListener {
    private static final Logger LOG = LoggerFactory.getLogger(Leases.class);
    private static final long RETRY_MILLIS = 200;

    private final DirectoryStore store;
    private final ScheduledExecutorService thread = Executors.newSingleThreadScheduledExecutor(
            Thread.ofPlatform().daemon().name("rackcall-directory").factory());
    private final Set<Bound> bound = ConcurrentHashMap.newKeySet();

    Leases(DirectoryStore store) {
        this.store = store;
        store.onLease(this);
    }

    @Override
    public void lost() {
        execute(() -> bound.forEach(Bound::leaseLost));
    }

    @Override
    public void renewed() {
        execute(() -> bound.forEach(item ->
                untilDone("what was announced under the old lease", () -> isOver(item) || item.leaseRenewed())));
    }

    private boolean isOver(Bound item) {
        return !bound.contains(item);
    }

    <T extends Bound> T bind(T item) {
        bound.add(item);
        // If the lease was lost after the item was made, only the other items were notified.
        if (!store.isLeaseHeld()) {
            execute(item::leaseLost);
        }
        return item;
    }

    /** Whether a bound item has an entry at this path. */
    boolean keep(String path) {
        return bound.stream().anyMatch(item -> item.isAt(path));
    }

    void forget(Bound item) {
        bound.remove(item);
    }

    /** Repeats a task on the directory's thread until it returns true. */
    void untilDone(String what, BooleanSupplier task) {
        boolean done = false;
        try {
            done = task.getAsBoolean();
        } catch (DirectoryException e) {
            LOG.info("{} waits for the store: {}", what, e.getMessage());
        } catch (RuntimeException e) {
            LOG.warn("{} failed and is tried again", what, e);
        }
        if (!done) {
            later(what, task);
        }
    }

    /** As {@link #untilDone}, from any thread and with a delay. */
    void later(String what, BooleanSupplier task) {
        try {
            var _ = thread.schedule(() -> untilDone(what, task), RETRY_MILLIS, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            LOG.debug("closed meanwhile");
        }
    }

    void execute(Runnable task) {
        try {
            thread.execute(task);
        } catch (RejectedExecutionException e) {
            LOG.debug("closed meanwhile");
        }
    }

    /** Calls a listener and logs its exceptions. */
    static <T> void tell(Consumer<T> listener, T what) {
        try {
            listener.accept(what);
        } catch (RuntimeException e) {
            LOG.warn("a listener of the directory has thrown", e);
        }
    }

    void close() {
        thread.shutdown();
    }

    /** An item that lasts as long as its directory's lease. Only the directory's thread calls it. */
    abstract static class Bound {
        /** Whether it has an entry at this path. */
        abstract boolean isAt(String path);

        abstract void leaseLost();

        /**
         * There is a new lease.
         *
         * @return false to be called again in a moment
         */
        abstract boolean leaseRenewed();
    }
}
