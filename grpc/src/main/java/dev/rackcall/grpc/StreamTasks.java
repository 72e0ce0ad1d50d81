package dev.rackcall.grpc;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * Runs the tasks of a stream one at a time, in the order in which they came: on the thread that brings one, or on a
 * thread that is running others. A task that brings another one returns before that runs. Any thread; no lock is held
 * while a task runs.
 *
 * <p>gRPC's {@code SynchronizationContext} does the same. It enters every task into a queue, which a stream's tasks rarely
 * need.
 */
final class StreamTasks {
    /** Tasks that have come and are not over. Whoever raises it from 0 runs them. */
    private final AtomicInteger unfinished = new AtomicInteger();

    private final Consumer<Throwable> failed;
    /** Made by the first task that has to wait. */
    private volatile Queue<Runnable> waiting;

    /** @param failed hears of what tasks throw, in their order */
    StreamTasks(Consumer<Throwable> failed) {
        this.failed = failed;
    }

    void execute(Runnable task) {
        if (unfinished.get() == 0 && unfinished.compareAndSet(0, 1)) {
            run(task);
        } else {
            // Before the count: the thread that runs the tasks finds as many as were counted.
            queue().add(task);
            if (unfinished.getAndIncrement() != 0) {
                return;
            }
            run(waiting.poll());
        }
        while (unfinished.decrementAndGet() != 0) {
            run(waiting.poll());
        }
    }

    private Queue<Runnable> queue() {
        Queue<Runnable> queue = waiting;
        if (queue != null) {
            return queue;
        }
        synchronized (this) {
            if (waiting == null) {
                waiting = new ConcurrentLinkedQueue<>();
            }
            return waiting;
        }
    }

    private void run(Runnable task) {
        try {
            task.run();
        } catch (Throwable e) {
            failed.accept(e);
        }
    }
}
