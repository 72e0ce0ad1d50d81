package dev.rackcall.verbs.real;

import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.ffi.CapturedErrno;
import dev.rackcall.verbs.ffi.Libc;
import dev.rackcall.verbs.ffi.Structs.Pollfd;
import dev.rackcall.verbs.ffi.VerbsConstants;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;

/** Waits for file descriptors, always with a timeout. */
final class Descriptors {
    private static final int EINTR = 4;

    private Descriptors() {}

    /**
     * Waits until the descriptor is readable, then reads it with the lock held. If another thread has read first, or an
     * object was destroyed, and nothing is left to read, it continues to wait.
     */
    static <T> Optional<T> read(int descriptor, Object lock, Duration atMost, Supplier<Optional<T>> read) {
        long deadline = System.nanoTime() + atMost.toNanos();
        Duration left = atMost;
        while (isReadable(descriptor, left)) {
            synchronized (lock) {
                if (isReadable(descriptor, Duration.ZERO)) {
                    return read.get();
                }
            }
            left = Duration.ofNanos(Math.max(0, deadline - System.nanoTime()));
        }
        return Optional.empty();
    }

    /** Whether the descriptor becomes readable within this time. */
    private static boolean isReadable(int descriptor, Duration atMost) {
        long deadline = System.nanoTime() + atMost.toNanos();
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment entry = arena.allocate(Pollfd.LAYOUT);
            Pollfd.FD.set(entry, descriptor);
            Pollfd.EVENTS.set(entry, VerbsConstants.POLLIN);
            while (true) {
                long left = Math.max(0, deadline - System.nanoTime());
                int millis = (int) Math.min(Integer.MAX_VALUE, (left + 999_999) / 1_000_000);
                int ready = Libc.poll(entry.address(), 1, millis);
                if (ready >= 0) {
                    return ready == 1;
                }
                if (CapturedErrno.errno() != EINTR) {
                    throw Verb.failure("waiting for descriptor " + descriptor, VerbsErrno.EINVAL);
                }
            }
        }
    }
}
