package dev.rackcall.rpc.shm.server;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** What other threads want a poller to do: any thread adds, the polling thread runs. */
final class Mailbox {
    private final Queue<Runnable> actions = new ConcurrentLinkedQueue<>();
    /** Whether there may be some. One plain load where asking the queue takes several. */
    private volatile boolean mailed;

    void add(Runnable action) {
        actions.add(action);
        mailed = true;
    }

    boolean mayHaveMail() {
        return mailed;
    }

    boolean isEmpty() {
        return actions.isEmpty();
    }

    void runAll() {
        // Before the actions: who adds some later says so again.
        mailed = false;
        for (Runnable action = actions.poll(); action != null; action = actions.poll()) {
            PollerLog.guarded("an action for the poller", action);
        }
    }
}
