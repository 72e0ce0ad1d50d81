package dev.rackcall.shm.pool;

import java.util.function.Supplier;

/** Closes a resource if an action fails before it has handed the resource on. */
final class OnFailure {
    private OnFailure() {}

    /** Returns the result of {@code action}; if it throws, closes {@code resource} first. */
    static <R> R close(AutoCloseable resource, Supplier<R> action) {
        try {
            return action.get();
        } catch (RuntimeException | Error e) {
            try {
                resource.close();
            } catch (Exception suppressed) {
                e.addSuppressed(suppressed);
            }
            throw e;
        }
    }
}
