package dev.rackcall.rdma.queue;

import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.rdma.sending.SendQueue;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.WorkRequest;
import java.util.Optional;

/** A virtual queue that knows its own room. */
record VirtualSends(VirtualQueue queue) implements SendQueue {
    @Override
    public int post(WorkRequest[] requests, int count) {
        return queue.push(requests, count);
    }

    @Override
    public int poll(Completions batch) {
        return queue.pop(batch);
    }

    @Override
    public Optional<String> failure() {
        return queue.failure();
    }
}
