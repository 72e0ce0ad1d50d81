package dev.rackcall.shm.os.file;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Unmaps what its owner does not use any more, also if a user has handed a part of it to the kernel, to write it to a file or a socket: nobody can take it from there, and a slow
 * reader decides how long that takes. Such memory stays mapped until the system call has returned, for which a thread looks now and then. Thread-safe.
 */
public final class Unmapping {
    private static final Logger LOG = LoggerFactory.getLogger(Unmapping.class);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    /** Those that wait. Guards itself and {@link #isLooking}. */
    private static final List<Unmapping> LATE = new ArrayList<>();

    /** A thread looks at them; it ends with the last one. */
    private static boolean isLooking;

    private final List<Mapping> mappings;
    private final Runnable afterwards;

    private Unmapping(List<Mapping> mappings, Runnable afterwards) {
        this.mappings = mappings;
        this.afterwards = afterwards;
    }

    /**
     * Unmaps now what can be, and the rest as soon as that is so. Does not wait.
     *
     * @param mappings those that somebody has closed are passed over
     * @param afterwards run once when none of them is mapped any more: by the calling thread before this returns, or later by another. Must not throw
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
                // Only now that it is started: on a host without threads to spare the next one tries again.
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
            // Without the monitor: it is the owner's code.
            over.forEach(Unmapping::end);
            over.clear();
        }
    }

    private void end() {
        try {
            afterwards.run();
        } catch (RuntimeException | Error e) {
            // Others wait for this thread, too.
            LOG.error("what follows the end of memory failed", e);
        }
    }
}
