package dev.rackcall.rpc.shm.server;

import dev.rackcall.testkit.Await;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;

/** Holds a server's only polling thread while it serves a cancellation, for tests. */
public final class HeldPoller {
    /** More than the checks at which a thread without a processor is spared. */
    private static final int CHECKS = 20;

    private HeldPoller() {}

    /**
     * Holds the thread, and checks many times whether it is stuck in a handler.
     *
     * @param cancel cancels a call of the server's only client
     * @return the polling threads before and after
     */
    public static List<Thread> holdAndCheck(PolledServer server, Runnable cancel) {
        Poller poller = server.pollers().getFirst();
        Thread before = threadOf(poller);
        AtomicReference<ReplyScopes> replies = new AtomicReference<>();
        run(poller, () -> replies.set(poller.connections().getFirst().end.replies()));
        // A cancellation takes this lock, after it has searched for the call.
        synchronized (replies.get()) {
            cancel.run();
            Await.until("the polling thread to wait for the lock", () -> before.getState() == Thread.State.BLOCKED);
            for (int i = 0; i < CHECKS; i++) {
                poller.relieveIfStuck();
            }
        }
        return List.of(before, threadOf(poller));
    }

    private static Thread threadOf(Poller poller) {
        AtomicReference<Thread> thread = new AtomicReference<>();
        run(poller, () -> thread.set(Thread.currentThread()));
        return thread.get();
    }

    private static void run(Poller poller, Runnable action) {
        CountDownLatch ran = new CountDownLatch(1);
        poller.post(() -> {
            action.run();
            ran.countDown();
        });
        Await.latch(ran);
    }
}
