package dev.rackcall.shm.pool;

import java.util.function.Supplier;

/** Closes a resource when the code that was to hand it on fails. */
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
