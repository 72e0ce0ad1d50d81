package dev.rackcall.verbs.soft.queue;

import dev.rackcall.verbs.AsyncEvent;
import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.soft.wire.FrameLayout;
import java.util.Optional;

/** A ring of completions behind one lock. */
public final class SoftCompletionQueue implements CompletionQueue {
    private final DeviceCore device;
    private final Optional<SoftCompletionChannel> channel;
    private final boolean busyPolled;
    private final Children users;
    private final Completions ring;
    private final int capacity;
    private final int mask;
    /** Written under the lock, but read without it: polling an empty queue must be cheap. */
    private volatile long produced;

    private volatile long consumed;
    private boolean armed;
    private boolean armedForSolicited;

    public SoftCompletionQueue(DeviceCore device, CompletionQueueSpec spec) {
        this.device = device;
        this.channel = spec.channel().map(SoftCompletionChannel.class::cast);
        this.busyPolled = spec.busyPolled();
        capacity = Math.max(2, Integer.highestOneBit(spec.capacity() - 1) << 1);
        mask = capacity - 1;
        ring = Completions.create(capacity);
        users = new Children("a completion queue", device.children());
        channel.ifPresent(listener -> listener.queues().add());
    }

    public Children users() {
        return users;
    }

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public int poll(Completions batch) {
        if (produced == consumed) {
            if (!busyPolled || !device.links().poll() || produced == consumed) {
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
                    "requesting notifications of a completion queue without a channel",
                    VerbsErrno.EINVAL,
                    "create it with CompletionQueueSpec.on(channel)");
        }
        synchronized (this) {
            armedForSolicited = solicitedOnly && !(armed && !armedForSolicited);
            armed = true;
        }
        if (!solicitedOnly) {
            // A thread that requests all notifications is about to sleep.
            device.links().stopPolling();
        }
    }

    @Override
    public void rest() {
        if (busyPolled) {
            device.links().stopPolling();
        }
    }

    /**
     * Adds a completion.
     *
     * @return false if the queue is full and the completion is lost; its queue pair must then fail
     */
    public boolean add(long id, CompletionStatus status, CompletionOpcode opcode, int bytes, int queuePair) {
        return add(id, status, opcode, bytes, queuePair, 0, 0, 0);
    }

    /**
     * Adds a completion.
     *
     * @param flags {@link FrameLayout#HAS_IMMEDIATE} and {@link FrameLayout#IS_SOLICITED}
     * @param source the sender of a datagram, else 0
     */
    public boolean add(
            long id,
            CompletionStatus status,
            CompletionOpcode opcode,
            int bytes,
            int queuePair,
            int flags,
            int immediate,
            int source) {
        if (device.faults().losesCompletion()) {
            return true;
        }
        boolean announce;
        synchronized (this) {
            if (produced - consumed == capacity) {
                device.events().raise(AsyncEvent.Type.CQ_ERROR, 0);
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
        }
    }
}
