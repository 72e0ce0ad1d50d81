package dev.rackcall.lock;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * Lets the sessions of a process that reach locks by RDMA unlock without waiting for the answer: {@link ALock#unlock} returns when its request is sent. As a rule the session's thread
 * sees the answer with whatever it does next. If it does nothing for some time, one thread of this object sees to the answer, so that whoever has come meanwhile is handed the lock.
 * It uses the session's own queue pair, while the session's thread does not.
 *
 * <p>That thread looks every 2 ms while there is something to look at, and sleeps otherwise. A thread that uses several sessions sees with each lock by RDMA to what it has left open in the others. One is enough for a process and any number of tables. Thread-safe.
 *
 * <p>What changes for the users of such a session: a lock may be held for some time after {@code unlock}, so {@code tryLock} of somebody who knows of that may fail. A connection that is lost
 * is known to the next call, which throws {@link LockConnectionException}. A session takes two descriptors of the table instead of one, the second with its first lock; if there is no second one then, it waits for its unlocks
 * as others do. So do readers, who have both in use. What belongs to its {@link RemoteTable} is used by this thread, too: its scratch memory must not be confined to the session's, and all of it may be closed only after the session.
 *
 * <p>A home that stops to answer in the middle of a hand-over holds this thread up until its queue pair gives up, 30 s at most for a request, and with it what is open in other sessions whose threads do not come back.
 */
public final class LockFinisher implements AutoCloseable {
    /** Where locks are wanted by many, whoever follows gains more by being told at once. */
    private static final int WAITED_FOR = 16;

    /** In vain, before it sleeps until it is woken. */
    private static final int IDLE_LOOKS = 5;

    private final List<OpenUnlock> unlocks = new CopyOnWriteArrayList<>();
    /** Those of each thread, for that thread: it looks at them with each lock, and not at those of others. */
    private final ThreadLocal<List<OpenUnlock>> own = ThreadLocal.withInitial(ArrayList::new);

    private final LockWait waiting;
    private final FinisherRest rest;
    private final int waitedFor;
    private final Thread thread;

    /** Whose thread does not run yet. */
    LockFinisher(LockWait waiting) {
        this(waiting, new FinisherRest(), WAITED_FOR);
    }

    /** @param waitedFor so many unlocks of a session are waited for after somebody was in its way */
    LockFinisher(LockWait waiting, FinisherRest rest, int waitedFor) {
        this.waiting = waiting;
        this.rest = rest;
        this.waitedFor = waitedFor;
        thread = Thread.ofPlatform().daemon().name("lock-finisher").unstarted(this::run);
    }

    /** Starts its thread. */
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

    /** From now on it is this thread's. */
    void addOwn(OpenUnlock unlock) {
        own.get().add(unlock);
    }

    void remove(OpenUnlock unlock) {
        unlocks.remove(unlock);
    }

    /** Something is open. */
    void wake() {
        // Read after the unlock was opened. The thread sets it before it looks for the last time.
        if (rest.isAsleep()) {
            rest.wake(thread);
        }
    }

    /** The same by a thread of one of the sessions, for those that are its own. */
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

    /** Whether its thread sleeps until somebody unlocks. */
    boolean isAsleep() {
        return rest.isAsleep();
    }

    boolean isClosed() {
        return rest.isClosed();
    }

    /** How many sessions it sees to. */
    int sessions() {
        return unlocks.size();
    }

    /** What its thread does. */
    void run() {
        try {
            finishAll();
        } finally {
            // Even by an error: then all wait for their unlocks themselves.
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
                // Whoever woke it may have seen to its unlock already: there will be others.
                idle = 0;
            }
        }
    }

    /** Sees to all answers that are there. Returns whether there was something open. */
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

    /** Its thread is to end when nothing is open any more. */
    void end() {
        rest.close();
        rest.wake(thread);
    }

    /** Ends its thread when nothing is open any more; an unlock that is not answered is given up after 30 s. Sessions may be used further, and wait for their unlocks. */
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
