package dev.rackcall.shm.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;

/**
 * Sleeps on a 32-bit word of shared memory, across processes (futex(2), not FUTEX_PRIVATE). Neither method allocates.
 * Both block the carrier of a virtual thread, so let virtual threads park instead.
 */
public final class Futex {
    private static final VarHandle WORD = JAVA_INT.varHandle();
    private static final long NANOS_PER_SECOND = 1_000_000_000L;

    private Futex() {}

    /**
     * Sleeps while the word holds {@code expected}, at most {@code timeoutNanos}. May return early without a reason, so
     * read the word again.
     *
     * @param offset byte offset of the word, a multiple of 4
     * @return false if the time ran out; true if the word differs, another thread woke this one, or a signal came
     * @throws IllegalStateException if the memory is unmapped
     */
    public static boolean await(MemorySegment memory, long offset, int expected, long timeoutNanos) {
        if (timeoutNanos < 0) {
            throw new IllegalArgumentException("a wait must have a bound: " + timeoutNanos + " ns");
        }
        // Also checks bounds and lifetime. Acquire: pairs with the release store to the word before wake().
        if ((int) WORD.getAcquire(memory, offset) != expected) {
            return true;
        }
        CallState state = CallState.current();
        MemorySegment timespec = state.scratch();
        timespec.set(JAVA_LONG, 0, timeoutNanos / NANOS_PER_SECOND);
        timespec.set(JAVA_LONG, Long.BYTES, timeoutNanos % NANOS_PER_SECOND);
        long word = memory.address() + offset;
        if (LibcProcess.futex(state.errnoSegment(), word, LibcProcess.FUTEX_WAIT, expected, timespec) == 0) {
            return true;
        }
        return switch (state.errno()) {
            case Errno.ETIMEDOUT -> false;
            case Errno.EAGAIN, Errno.EINTR -> true;
            default -> throw unexpected(memory, offset, state);
        };
    }

    /** Wakes at most {@code count} threads that sleep on the word; returns how many there were. */
    public static int wake(MemorySegment memory, long offset, int count) {
        // Only checks bounds and lifetime.
        WORD.getOpaque(memory, offset);
        CallState state = CallState.current();
        long word = memory.address() + offset;
        int woken = LibcProcess.futex(state.errnoSegment(), word, LibcProcess.FUTEX_WAKE, count, MemorySegment.NULL);
        if (woken < 0) {
            throw unexpected(memory, offset, state);
        }
        return woken;
    }

    private static RuntimeException unexpected(MemorySegment memory, long offset, CallState state) {
        OsException failure = state.failure("futex at offset " + offset);
        // If the memory was unmapped between the check and the call, this access throws the right exception.
        WORD.getOpaque(memory, offset);
        return failure;
    }
}
