package dev.rackcall.shm.pool;

import java.util.function.Supplier;

/** For what opens something and hands it on. */
final class OnFailure {
    private OnFailure() {}

    /** What {@code action} returns; if it throws, {@code resource} is closed first. */
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
