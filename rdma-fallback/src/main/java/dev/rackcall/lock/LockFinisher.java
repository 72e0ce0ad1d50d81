package dev.rackcall.lock;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Lets sessions by RDMA unlock without waiting for the answer: {@link ALock#unlock} returns when its request is sent.
 * As a rule, the session's thread handles the answer with its next call. If it makes none for some time, the finisher's
 * thread does, so that a thread that has queued meanwhile gets the lock. The finisher uses the session's own queue pair
 * while the session's thread does not.
 *
 * <p>The finisher's thread checks every 2 ms while an unlock is open, and sleeps otherwise. A thread with several
 * sessions handles the answers of all of them each time it takes a lock by RDMA. One finisher serves a process and any
 * number of tables. Thread-safe.
 *
 * <p>For such a session:
 *
 * <ul>
 * <li>The lock may be held for some time after {@code unlock}, so another thread's {@code tryLock} may fail.
 * <li>The next call reports a lost connection, by {@link LockConnectionException}.
 * <li>It takes two descriptors of the table instead of one, the second with its first lock. It waits for its unlocks if
 * there is no second one, and also for readers, which use both.
 * <li>The finisher's thread uses its {@link RemoteTable}, too: the scratch memory must not be confined to a thread, and
 * all of it may be closed only after the session.
 * </ul>
 *
 * <p>If the home stops answering in the middle of a hand-over, the finisher's thread waits until the queue pair gives
 * up, up to 30 s for a request. Open unlocks of other sessions wait in the meantime, unless their own threads make
 * another call.
 */
public final class LockFinisher implements AutoCloseable {
    /**
     * After contention, this many unlocks are awaited: granting the lock to the next thread at once saves more time.
     */
    private static final int WAITED_FOR = 16;

    /** After this many checks that find nothing, the thread sleeps. */
    private static final int IDLE_LOOKS = 5;

    private final List<OpenUnlock> unlocks = new CopyOnWriteArrayList<>();
    /** The unlocks of each thread. With each lock, a thread checks its own unlocks and not those of other threads. */
    private final ThreadLocal<List<OpenUnlock>> own = ThreadLocal.withInitial(ArrayList::new);

    private final LockWait waiting;
    private final FinisherRest rest;
    private final int waitedFor;
    private final Thread thread;

    /** A finisher whose thread does not run yet. */
    LockFinisher(LockWait waiting) {
        this(waiting, new FinisherRest(), WAITED_FOR);
    }

    /** @param waitedFor this many unlocks of a session are awaited after contention */
    LockFinisher(LockWait waiting, FinisherRest rest, int waitedFor) {
        this.waiting = waiting;
        this.rest = rest;
        this.waitedFor = waitedFor;
        thread = Thread.ofPlatform().daemon().name("lock-finisher").unstarted(this::run);
    }

    /** Starts a finisher with its thread. */
    public static LockFinisher start() {
        LockFinisher finisher = new LockFinisher(new LockWait(true));
        finisher.thread.start();
        return finisher;
    }

    /** How its thread waits. */
    LockWait waiting() {
        return waiting;
    }

    int waitedFor() {
        return waitedFor;
    }

    /** @throws IllegalArgumentException if its thread may not use this scratch memory */
    void require(MemorySegment scratch) {
        if (!scratch.isAccessibleBy(thread)) {
            throw new IllegalArgumentException("the scratch memory of a session with a finisher is used by "
                    + thread.getName() + ", too, and this memory is confined to another thread: " + scratch
                    + "; allocate it from a shared or automatic arena");
        }
    }

    void add(OpenUnlock unlock) {
        unlocks.add(unlock);
    }

    /** From now on, the calling thread also handles this unlock. */
    void addOwn(OpenUnlock unlock) {
        own.get().add(unlock);
    }

    void remove(OpenUnlock unlock) {
        unlocks.remove(unlock);
    }

    /** Wakes the thread for an open unlock. */
    void wake() {
        // Read after the unlock was opened. The thread sets it before its last check.
        if (rest.isAsleep()) {
            rest.wake(thread);
        }
    }

    /** Handles the answers of the calling thread's sessions. */
    void finishOwn() {
        List<OpenUnlock> mine = own.get();
        for (int i = mine.size() - 1; i >= 0; i--) {
            OpenUnlock unlock = mine.get(i);
            if (unlock.isOver()) {
                mine.remove(i);
            } else if (unlock.isOpen()) {
                unlock.finishFromAnother();
            }
        }
    }

    private boolean isAnyOpen() {
        for (OpenUnlock unlock : unlocks) {
            if (unlock.isOpen()) {
                return true;
            }
        }
        return false;
    }

    /** Whether its thread sleeps until the next unlock. */
    boolean isAsleep() {
        return rest.isAsleep();
    }

    boolean isClosed() {
        return rest.isClosed();
    }

    /** How many sessions it serves. */
    int sessions() {
        return unlocks.size();
    }

    /** What its thread does. */
    void run() {
        try {
            finishAll();
        } finally {
            // Also after an error, so that all sessions wait for their unlocks.
            rest.close();
        }
    }

    private void finishAll() {
        int idle = 0;
        while (true) {
            boolean last = rest.isClosed();
            idle = finish() ? 0 : idle + 1;
            if (last && idle > 0) {
                return;
            }
            if (idle < IDLE_LOOKS) {
                rest.untilNextLook();
            } else {
                sleep();
                // The session that woke it may have handled its unlock already; others will follow.
                idle = 0;
            }
        }
    }

    /** Handles all answers that have arrived. Returns whether an unlock was open. */
    boolean finish() {
        boolean found = false;
        for (OpenUnlock unlock : unlocks) {
            found |= unlock.finish();
        }
        return found;
    }

    private void sleep() {
        rest.setAsleep(true);
        if (!rest.isClosed() && !isAnyOpen()) {
            rest.untilWoken();
        }
        rest.setAsleep(false);
    }

    /** Ends its thread once no unlock is open. */
    void end() {
        rest.close();
        rest.wake(thread);
    }

    /**
     * Ends its thread once no unlock is open; an unlock that is not answered is abandoned after 30 s. Sessions remain
     * usable, and wait for their unlocks.
     */
    @Override
    public void close() {
        end();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
