package dev.rackcall.verbs.soft.queue;

import dev.rackcall.verbs.AsyncEvent;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Asynchronous events that the program has not taken yet. While the queue is full, new events are dropped. */
public final class AsyncEvents {
    private static final int CAPACITY = 1024;

    private final LinkedBlockingQueue<AsyncEvent> events = new LinkedBlockingQueue<>(CAPACITY);

    public void raise(AsyncEvent.Type type, int element) {
        boolean _ = events.offer(new AsyncEvent(type, element));
    }

    public Optional<AsyncEvent> await(Duration atMost) {
        return poll(events, atMost);
    }

    /** Waits for an element; empty after this time, or if the thread is interrupted. */
    static <T> Optional<T> poll(LinkedBlockingQueue<T> queue, Duration atMost) {
        try {
            return Optional.ofNullable(queue.poll(atMost.toNanos(), TimeUnit.NANOSECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }
}
