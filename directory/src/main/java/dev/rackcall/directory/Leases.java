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

/** What of one directory is bound to its lease, and the directory's thread, which tells it when the lease is lost and when there is a new one. */
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
        // A lease that was lost between the item's making and now has told the others only.
        if (!store.isLeaseHeld()) {
            execute(item::leaseLost);
        }
        return item;
    }

    /** Whether something that is bound has an entry there. */
    boolean keep(String path) {
        return bound.stream().anyMatch(item -> item.isAt(path));
    }

    void forget(Bound item) {
        bound.remove(item);
    }

    /** By the directory's thread: again and again until it says that it is done, as long as it takes, since nobody else would try. */
    void untilDone(String what, BooleanSupplier task) {
        boolean done = false;
        try {
            done = task.getAsBoolean();
        } catch (DirectoryException e) {
            LOG.info("{} waits for the store: {}", what, e.getMessage());
        }
        if (!done) {
            later(what, task);
        }
    }

    /** As {@link #untilDone}, by any thread and not at once. */
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

    /** Calls a listener. What it throws concerns nobody else. */
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

    /** Something that lasts as long as its directory's lease. Called by the directory's thread only. */
    abstract static class Bound {
        /** Whether it has an entry at this path. */
        abstract boolean isAt(String path);

        abstract void leaseLost();

        /**
         * There is a new lease.
         *
         * @return false to be asked again in a moment
         */
        abstract boolean leaseRenewed();
    }
}
