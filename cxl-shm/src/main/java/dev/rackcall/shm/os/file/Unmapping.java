package dev.rackcall.shm.os.file;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Unmaps memory that its owner no longer uses. Part of it may still be in a system call, for example a write to a slow
 * socket, which cannot be interrupted. Such memory stays mapped until the system call has returned; a thread checks
 * every 20 ms. Thread-safe.
 */
public final class Unmapping {
    private static final Logger LOG = LoggerFactory.getLogger(Unmapping.class);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** Pending unmappings. Guards itself and {@link #isLooking}. */
    private static final List<Unmapping> LATE = new ArrayList<>();

    /** Whether the checking thread runs. It ends with the last pending unmapping. */
    private static boolean isLooking;

    private final List<Mapping> mappings;
    private final Runnable afterwards;

    private Unmapping(List<Mapping> mappings, Runnable afterwards) {
        this.mappings = mappings;
        this.afterwards = afterwards;
    }

    /**
     * Unmaps what it can now and the rest as soon as possible. Does not wait.
     *
     * @param mappings closed ones are skipped
     * @param afterwards run once all are unmapped, by the calling thread before this returns or later by another one;
     *     must not throw
     */
    public static void of(List<Mapping> mappings, Runnable afterwards) {
        Unmapping unmapping = new Unmapping(mappings, afterwards);
        if (unmapping.isDone()) {
            afterwards.run();
            return;
        }
        synchronized (LATE) {
            LATE.add(unmapping);
            if (!isLooking) {
                Thread.ofPlatform().daemon().name("rackcall-unmap").start(Unmapping::look);
                // Set only after the start succeeded. On a host without spare threads the next call tries again.
                isLooking = true;
            }
        }
    }

    private boolean isDone() {
        boolean done = true;
        for (Mapping mapping : mappings) {
            done &= mapping.tryClose();
        }
        return done;
    }

    private static void look() {
        List<Unmapping> over = new ArrayList<>();
        while (true) {
            LockSupport.parkNanos(PAUSE_NANOS);
            synchronized (LATE) {
                LATE.removeIf(late -> late.isDone() && over.add(late));
                isLooking = !LATE.isEmpty() || !over.isEmpty();
                if (!isLooking) {
                    return;
                }
            }
            // Outside the monitor, since this runs the owner's code.
            over.forEach(Unmapping::end);
            over.clear();
        }
    }

    private void end() {
        try {
            afterwards.run();
        } catch (RuntimeException | Error e) {
            // Other owners need this thread too.
            LOG.error("the action after unmapping memory failed", e);
        }
    }
}
