package dev.rackcall.rdma.lock;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/**
 * Lets the sessions of a process that reach locks by RDMA unlock without waiting for the answer: {@link ALock#unlock} returns when its request is sent. As a rule the session's thread
 * sees the answer with whatever it does next. If it does nothing for some time, one thread of this object sees to the answer, so that whoever has come meanwhile is handed the lock.
 * It uses the session's own queue pair, while the session's thread does not.
 *
 * <p>That thread looks every 2 ms while there is something to look at, and sleeps otherwise. A thread that uses several sessions sees with each lock by RDMA to what it has left open in the others. One is enough for a process and any number of tables. Thread-safe.
 *
 * <p>What changes for the users of such a session: a lock may be held for some time after {@code unlock}, so {@code tryLock} of somebody who knows of that may fail. A connection that is lost
 * is known to the next call, which throws {@link LockConnectionException}. A session takes two descriptors of the table instead of one, the second with its first lock; if there is no second one then, it waits for its unlocks
 * as others do. So do readers, who have both in use. What belongs to its {@link LockLink} is used by this thread, too: its scratch memory must not be confined to the session's, and all of it may be closed only after the session.
 *
 * <p>A home that stops to answer in the middle of a hand-over holds this thread up until its queue pair gives up, 30 s at most for a request, and with it what is open in other sessions whose threads do not come back.
 */
public final class LockFinisher implements AutoCloseable {
    /** Each look costs a thread that works the processor for a moment; a bell that nobody rings is looked after as late. */
    private static final long LOOK_NANOS = 2_000_000;
    /** In vain, before it sleeps until it is woken. */
    private static final int IDLE_LOOKS = 5;

    private final List<OpenUnlock> unlocks = new CopyOnWriteArrayList<>();
    private final Waiting waiting;
    private final Thread thread;
    private volatile boolean asleep;
    private volatile boolean closed;

    /** Whose thread does not run yet. */
    LockFinisher(Waiting waiting) {
        this.waiting = waiting;
        thread = Thread.ofPlatform().daemon().name("lock-finisher").unstarted(this::run);
    }

    /** Starts its thread. */
    public static LockFinisher start() {
        LockFinisher finisher = new LockFinisher(new Waiting(true));
        finisher.thread.start();
        return finisher;
    }

    /** How its thread waits. */
    Waiting waiting() {
        return waiting;
    }

    void add(OpenUnlock unlock) {
        unlocks.add(unlock);
    }

    void remove(OpenUnlock unlock) {
        unlocks.remove(unlock);
    }

    /** Something is open. */
    void wake() {
        // Read after the unlock was opened. The thread sets it before it looks for the last time.
        if (asleep) {
            LockSupport.unpark(thread);
        }
    }

    /** The same by a thread of one of the sessions, for those that are its own. */
    void finishOwn() {
        Thread current = Thread.currentThread();
        for (OpenUnlock unlock : unlocks) {
            if (unlock.isOpen()) {
                unlock.finishOf(current);
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
        return asleep;
    }

    boolean isClosed() {
        return closed;
    }

    private void run() {
        try {
            finishAll();
        } finally {
            // Even by an error: then all wait for their unlocks themselves.
            closed = true;
        }
    }

    private void finishAll() {
        int idle = 0;
        while (true) {
            boolean last = closed;
            idle = finish() ? 0 : idle + 1;
            if (last && idle > 0) {
                return;
            }
            if (idle < IDLE_LOOKS) {
                LockSupport.parkNanos(this, LOOK_NANOS);
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
        asleep = true;
        if (!closed && !isAnyOpen()) {
            LockSupport.park(this);
        }
        asleep = false;
    }

    /** Ends its thread when nothing is open any more; an unlock that is not answered is given up after 30 s. Sessions may be used further, and wait for their unlocks. */
    @Override
    public void close() {
        closed = true;
        LockSupport.unpark(thread);
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
