package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.shm.protocol.LostWakeUps;
import dev.rackcall.rpc.spi.CallThread;
import dev.rackcall.shm.waiting.Processors;
import dev.rackcall.shm.waiting.SpinLimit;
import dev.rackcall.shm.waiting.SpinTime;
import dev.rackcall.shm.waiting.Spinning;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jctools.queues.varhandle.MpmcVarHandleArrayQueue;

/**
 * A fixed number of threads over a bounded queue. Idle ones spin where that has paid off lately, then sleep; each entry
 * wakes one sleeper. Thread-safe.
 *
 * @param <T> the queue's entries
 */
final class WorkerPool<T> implements AutoCloseable {
    /** Polls between two readings of the clock: one to two microseconds. */
    private static final int SPINS_PER_STEP = 32;

    final MpmcVarHandleArrayQueue<T> queue;
    private final WaitStrategy waiting;
    private final long sleepNanos;
    private final Consumer<T> task;
    private final Consumer<T> refusal;
    final List<Worker> workers;
    private final AtomicInteger asleep = new AtomicInteger();
    private volatile boolean stopped;

    /**
     * A pool with its threads started.
     *
     * @param waiting how idle workers wait; they sleep even if it spins for ever, as there may be more of them than
     *     processors
     * @param sleepNanos time after which a sleeping worker checks the queue without being woken; only a safety net
     * @param task run for each entry; must not throw
     * @param refusal run for each entry still in the queue when the pool is closed
     */
    static <T> WorkerPool<T> start(
            int count, int capacity, WaitStrategy waiting, long sleepNanos, Consumer<T> task, Consumer<T> refusal) {
        WorkerPool<T> pool = new WorkerPool<>(count, capacity, waiting, sleepNanos, task, refusal);
        pool.workers.forEach(worker -> worker.thread.start());
        return pool;
    }

    /** As {@link #start}, but without starting the threads. */
    WorkerPool(int count, int capacity, WaitStrategy waiting, long sleepNanos, Consumer<T> task, Consumer<T> refusal) {
        this.queue = new MpmcVarHandleArrayQueue<>(capacity);
        // The thread that adds entries cannot run while a worker spins on the only processor.
        this.waiting = waiting == WaitStrategy.BLOCKING || Spinning.alwaysShares()
                ? WaitStrategy.BLOCKING
                : WaitStrategy.ADAPTIVE;
        this.sleepNanos = sleepNanos;
        this.task = task;
        this.refusal = refusal;
        workers = IntStream.range(0, count).mapToObj(Worker::new).toList();
    }

    /** Adds an entry; returns false if the queue is full. */
    boolean offer(T entry) {
        if (!queue.offer(entry)) {
            return false;
        }
        if (stopped) {
            refuseWaiting();
        }
        // The queue's own volatile update precedes this check. A worker checks the queue after it has announced its
        // sleep.
        if (asleep.get() > 0) {
            wakeOne();
        }
        return true;
    }

    /** Wakes one sleeping worker, never one that was already woken: it may have a long task by now. */
    private void wakeOne() {
        for (Worker worker : workers) {
            if (worker.stopsSleeping()) {
                LockSupport.unpark(worker.thread);
                return;
            }
        }
    }

    private void refuseWaiting() {
        for (T entry = queue.poll(); entry != null; entry = queue.poll()) {
            refusal.accept(entry);
        }
    }

    /** Ends the threads after their current entries, without waiting; the queue's entries are refused. */
    @Override
    public void close() {
        stopped = true;
        workers.forEach(worker -> LockSupport.unpark(worker.thread));
        refuseWaiting();
    }

    final class Worker {
        private final Thread thread;
        private final AtomicBoolean sleeps = new AtomicBoolean();
        /** Of this worker only: the first sleeper is woken first, so that others may sleep for long. */
        private final Spinning spinning = new Spinning(waiting, SpinTime.ofMemory());

        Worker(int index) {
            thread = new CallThread(this::work, "rackcall-worker-" + index);
        }

        private void work() {
            while (!stopped) {
                T entry = next();
                if (entry != null) {
                    task.accept(entry);
                }
            }
        }

        private T next() {
            T entry = queue.poll();
            if (entry == null) {
                entry = spin();
            }
            if (entry != null) {
                return entry;
            }
            entry = fallAsleep();
            if (entry == null && !stopped) {
                LostWakeUps.park(WorkerPool.this, sleepNanos, this::isForgotten, "a worker");
                // A task may have passed this thread to another thread, which interrupts it late. This thread would
                // then never sleep again.
                CallThread.forgetInterrupt();
                spinning.slept();
            }
            wakeUp(entry);
            return entry;
        }

        /** Announces this worker's sleep; returns an entry that it takes instead of sleeping, or null. */
        T fallAsleep() {
            sleeps.set(true);
            asleep.incrementAndGet();
            return queue.poll();
        }

        /** Ends this worker's sleep, for which it has found {@code entry} instead if that is not null. */
        void wakeUp(T entry) {
            if (!stopsSleeping() && entry != null) {
                // This worker found an entry by itself, but was also woken for a later one, which another worker must
                // take.
                wakeOne();
            }
        }

        /** Whether entries wait for workers that all sleep, with none woken for them. */
        private boolean isForgotten() {
            return sleeps.get() && asleep.get() == workers.size() && !queue.isEmpty() && !stopped;
        }

        /** Null once spinning no longer pays. */
        private T spin() {
            spinning.begin();
            if (waiting == WaitStrategy.BLOCKING || !SpinLimit.enter(Processors.count())) {
                return null;
            }
            try {
                do {
                    for (int i = SPINS_PER_STEP; i > 0; i--) {
                        T entry = queue.poll();
                        if (entry != null) {
                            spinning.met();
                            return entry;
                        }
                        Thread.onSpinWait();
                    }
                } while (!stopped && spinning.goesOn(false));
                return null;
            } finally {
                SpinLimit.leave();
            }
        }

        /** Ends this worker's sleep; returns true to exactly one of the calling threads. */
        boolean stopsSleeping() {
            boolean slept = sleeps.get() && sleeps.compareAndSet(true, false);
            if (slept) {
                asleep.decrementAndGet();
            }
            return slept;
        }
    }
}
