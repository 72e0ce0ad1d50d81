package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.CompletionChannel;
import dev.rackcall.verbs.CompletionQueue;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** Announcements of completion queues, in order. */
final class SoftCompletionChannel implements CompletionChannel {
    private final Children parent;
    private final Children queues = new Children("a completion channel");
    private final LinkedBlockingQueue<CompletionQueue> announced = new LinkedBlockingQueue<>();

    SoftCompletionChannel(Children parent) {
        this.parent = parent;
        parent.add();
    }

    Children queues() {
        return queues;
    }

    void announce(CompletionQueue queue) {
        announced.add(queue);
    }

    void forget(CompletionQueue queue) {
        while (announced.remove(queue)) {
            // A closed queue announces nothing.
        }
    }

    @Override
    public Optional<CompletionQueue> await(Duration atMost) {
        try {
            return Optional.ofNullable(announced.poll(atMost.toNanos(), TimeUnit.NANOSECONDS));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    @Override
    public void close() {
        if (queues.close()) {
            parent.remove();
        }
    }
}
