package dev.rackcall.rdma;

import dev.rackcall.rdma.sending.SendQueue;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.WorkRequest;
import java.util.Optional;

/** The send queue of a connection's own queue pair: many requests at once are one system call of the software device, and one doorbell of others. */
final class PairQueue implements SendQueue {
    private final QueuePair queuePair;
    private final CompletionQueue completions;
    private long posted;
    /** Up to which requests their places are known to be free. */
    private long done;

    PairQueue(RdmaEnd end) {
        queuePair = end.queuePair;
        completions = end.sends;
    }

    @Override
    public int post(WorkRequest[] requests, int count) {
        // Devices may have more places than they were asked for, and need not say which are free.
        long room = RdmaEnd.SENDS - (posted - done);
        int taken = room > 0 ? queuePair.postSend(requests, (int) Math.min(count, room)) : 0;
        posted += taken;
        return taken;
    }

    @Override
    public int poll(Completions batch) {
        int count = completions.poll(batch);
        if (count > 0) {
            done = batch.id(count - 1);
        }
        return count;
    }

    @Override
    public Optional<String> failure() {
        return Optional.empty();
    }
}
