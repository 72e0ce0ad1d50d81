package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.AsyncEvent;
import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import java.util.Optional;

/** A ring of completions behind one lock. */
final class SoftCompletionQueue implements CompletionQueue {
    private final SoftContext context;
    private final Optional<SoftCompletionChannel> channel;
    private final boolean busyPolled;
    private final Children users = new Children("a completion queue");
    private final Completions ring;
    private final int capacity;
    private final int mask;
    /** Both are written under the lock, and read without it to find out cheaply that nothing is there. */
    private volatile long produced;

    private volatile long consumed;
    private boolean armed;
    private boolean armedForSolicited;

    SoftCompletionQueue(SoftContext context, CompletionQueueSpec spec) {
        this.context = context;
        this.channel = spec.channel().map(SoftCompletionChannel.class::cast);
        this.busyPolled = spec.busyPolled();
        capacity = Math.max(2, Integer.highestOneBit(spec.capacity() - 1) << 1);
        mask = capacity - 1;
        ring = Completions.create(capacity);
        context.children().add();
        channel.ifPresent(listener -> listener.queues().add());
    }

    Children users() {
        return users;
    }

    SoftContext context() {
        return context;
    }

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public int poll(Completions batch) {
        if (produced == consumed) {
            if (!busyPolled || !context.progress() || produced == consumed) {
                return 0;
            }
        }
        synchronized (this) {
            int count = (int) Math.min(batch.capacity(), produced - consumed);
            for (int i = 0; i < count; i++) {
                batch.copy(i, ring, (int) (consumed + i) & mask);
            }
            consumed = consumed + count;
            return count;
        }
    }

    @Override
    public void requestNotification(boolean solicitedOnly) {
        if (channel.isEmpty()) {
            throw new VerbsException(
                    "asking for announcements of a completion queue that has no channel",
                    VerbsErrno.EINVAL,
                    "make it with CompletionQueueSpec.on(channel)");
        }
        synchronized (this) {
            armedForSolicited = solicitedOnly && !(armed && !armedForSolicited);
            armed = true;
        }
        if (!solicitedOnly) {
            // Whoever asks for every announcement is about to sleep.
            context.pollersRest();
        }
    }

    /** @return false if the completion got lost for want of room, after which its queue pair must fail */
    boolean add(long id, CompletionStatus status, CompletionOpcode opcode, int bytes, int queuePair) {
        return add(id, status, opcode, bytes, queuePair, 0, 0, 0);
    }

    /**
     * Adds a completion.
     *
     * @param flags {@link FrameLayout#HAS_IMMEDIATE} and {@link FrameLayout#IS_SOLICITED}
     * @param source the sender of a datagram, else 0
     */
    boolean add(
            long id,
            CompletionStatus status,
            CompletionOpcode opcode,
            int bytes,
            int queuePair,
            int flags,
            int immediate,
            int source) {
        if (context.faults().losesCompletion()) {
            return true;
        }
        boolean announce;
        synchronized (this) {
            if (produced - consumed == capacity) {
                context.raise(new AsyncEvent(AsyncEvent.Type.CQ_ERROR, 0));
                return false;
            }
            int index = (int) produced & mask;
            ring.set(index, id, status, opcode, bytes, queuePair);
            if ((flags & FrameLayout.HAS_IMMEDIATE) != 0) {
                ring.setImmediate(index, immediate);
            }
            if (source != 0) {
                ring.setSource(index, source);
            }
            produced = produced + 1;
            boolean solicited = (flags & FrameLayout.IS_SOLICITED) != 0 || status != CompletionStatus.SUCCESS;
            announce = armed && (!armedForSolicited || solicited);
            armed = armed && !announce;
        }
        if (announce) {
            channel.ifPresent(listener -> listener.announce(this));
        }
        return true;
    }

    @Override
    public void close() {
        if (users.close()) {
            channel.ifPresent(listener -> {
                listener.forget(this);
                listener.queues().remove();
            });
            context.children().remove();
        }
    }
}
