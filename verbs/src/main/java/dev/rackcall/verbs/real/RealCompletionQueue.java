package dev.rackcall.verbs.real;

import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.ffi.ContextOperations;
import dev.rackcall.verbs.ffi.Libibverbs;
import dev.rackcall.verbs.ffi.Structs.IbvCq;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Optional;

/** A struct ibv_cq. */
final class RealCompletionQueue extends NativeObject implements CompletionQueue {
    private final Optional<RealCompletionChannel> channel;
    private final int capacity;

    private RealCompletionQueue(NativeContext device, Optional<RealCompletionChannel> channel, long pointer) {
        super(device, pointer, "a completion queue");
        this.channel = channel;
        capacity = IbvCq.CQE.get(MemorySegment.ofAddress(pointer).reinterpret(IbvCq.BYTES));
        channel.ifPresent(listener -> listener.add(pointer, this));
    }

    static RealCompletionQueue create(NativeContext device, CompletionQueueSpec spec) {
        Optional<RealCompletionChannel> channel = spec.channel().map(RealCompletionChannel.class::cast);
        long channelPointer = channel.map(RealCompletionChannel::pointer).orElse(0L);
        long pointer = Verb.pointer(
                Libibverbs.ibvCreateCq(device.pointer(), spec.capacity(), 0, channelPointer, 0),
                "creating a completion queue of " + spec.capacity() + " entries");
        return new RealCompletionQueue(device, channel, pointer);
    }

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public int poll(Completions batch) {
        int count;
        try {
            count = ContextOperations.pollCq(
                    device().pollCq,
                    pointer(),
                    batch.capacity(),
                    batch.entries().address());
        } finally {
            Reference.reachabilityFence(batch);
        }
        if (count < 0) {
            throw Verb.failure("polling a completion queue", -count);
        }
        return count;
    }

    @Override
    public void requestNotification(boolean solicitedOnly) {
        if (channel.isEmpty()) {
            throw new VerbsException(
                    "requesting notifications of a completion queue without a channel",
                    VerbsErrno.EINVAL,
                    "create it with CompletionQueueSpec.on(channel)");
        }
        Verb.zero(
                ContextOperations.reqNotifyCq(device().requestNotification, pointer(), solicitedOnly ? 1 : 0),
                "requesting notifications of a completion queue");
    }

    @Override
    int destroy() {
        return channel.isPresent() ? channel.get().destroy(pointer(), this::destroyQueue) : destroyQueue();
    }

    private int destroyQueue() {
        return device().destroy(() -> Libibverbs.ibvDestroyCq(pointer()));
    }
}
