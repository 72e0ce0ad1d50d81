package dev.rackcall.verbs.soft.queue;

import dev.rackcall.verbs.CompletionChannel;
import dev.rackcall.verbs.CompletionQueue;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.LinkedBlockingQueue;

/** Announcements of completion queues, in order. */
public final class SoftCompletionChannel implements CompletionChannel {
    private final Children queues;
    private final LinkedBlockingQueue<CompletionQueue> announced = new LinkedBlockingQueue<>();

    public SoftCompletionChannel(Children parent) {
        queues = new Children("a completion channel", parent);
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
        return AsyncEvents.poll(announced, atMost);
    }

    @Override
    public void close() {
        queues.close();
    }
}
