package dev.rackcall.verbs.real;

import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.ffi.CapturedErrno;
import dev.rackcall.verbs.ffi.ContextOperations;
import dev.rackcall.verbs.ffi.IbvCq;
import dev.rackcall.verbs.ffi.Libibverbs;
import java.lang.foreign.MemorySegment;
import java.lang.ref.Reference;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/** A struct ibv_cq. */
final class RealCompletionQueue implements CompletionQueue {
    private final RealContext context;
    private final Optional<RealCompletionChannel> channel;
    private final long pointer;
    private final int capacity;
    private final AtomicBoolean closed = new AtomicBoolean();

    private RealCompletionQueue(RealContext context, Optional<RealCompletionChannel> channel, long pointer) {
        this.context = context;
        this.channel = channel;
        this.pointer = pointer;
        capacity = IbvCq.cqe(MemorySegment.ofAddress(pointer).reinterpret(IbvCq.BYTES));
        context.opened();
        channel.ifPresent(listener -> listener.add(pointer, this));
    }

    static RealCompletionQueue create(RealContext context, CompletionQueueSpec spec) {
        Optional<RealCompletionChannel> channel = spec.channel().map(RealCompletionChannel.class::cast);
        long channelPointer = channel.map(RealCompletionChannel::pointer).orElse(0L);
        long pointer = Verb.pointer(
                Libibverbs.ibvCreateCq(
                        CapturedErrno.current(), context.pointer(), spec.capacity(), 0, channelPointer, 0),
                "making a completion queue of " + spec.capacity() + " entries");
        return new RealCompletionQueue(context, channel, pointer);
    }

    long pointer() {
        return pointer;
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
                    context.operations().pollCq,
                    pointer,
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
                    "asking for announcements of a completion queue that has no channel",
                    VerbsErrno.EINVAL,
                    "make it with CompletionQueueSpec.on(channel)");
        }
        Verb.zero(
                ContextOperations.reqNotifyCq(context.operations().requestNotification, pointer, solicitedOnly ? 1 : 0),
                "asking for announcements of a completion queue");
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            channel.ifPresentOrElse(listener -> listener.close(pointer, this::destroy), this::destroy);
            context.closed();
        }
    }

    private void destroy() {
        Closing.run(
                closed,
                () -> context.destroy(() -> Libibverbs.ibvDestroyCq(CapturedErrno.current(), pointer)),
                "closing a completion queue");
    }
}
