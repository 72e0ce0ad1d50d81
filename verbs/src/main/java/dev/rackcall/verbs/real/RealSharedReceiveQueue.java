package dev.rackcall.verbs.real;

import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.SharedReceiveQueue;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.ffi.CapturedErrno;
import dev.rackcall.verbs.ffi.ContextOperations;
import dev.rackcall.verbs.ffi.Libibverbs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;
import java.util.concurrent.atomic.AtomicBoolean;

/** A struct ibv_srq. */
final class RealSharedReceiveQueue implements SharedReceiveQueue {
    private final RealContext context;
    private final long pointer;
    private final int segments;
    private final MemorySegment bad = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);
    private final AtomicBoolean closed = new AtomicBoolean();

    RealSharedReceiveQueue(RealContext context, long pointer, int segments) {
        this.context = context;
        this.pointer = pointer;
        this.segments = segments;
        context.opened();
    }

    long pointer() {
        return pointer;
    }

    @Override
    public boolean post(ReceiveRequest request) {
        if (request.segments() > segments) {
            throw Verb.failure(
                    "posting a receive request of " + request.segments() + " segments to a queue for " + segments,
                    VerbsErrno.EINVAL);
        }
        int result;
        try {
            result = ContextOperations.postSrqRecv(
                    context.operations().postSharedReceive,
                    pointer,
                    request.struct().address(),
                    bad.address());
        } finally {
            Reference.reachabilityFence(request);
        }
        if (result == VerbsErrno.ENOMEM) {
            return false;
        }
        Verb.zero(result, "posting a receive request to a shared queue");
        return true;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            Closing.run(
                    closed,
                    () -> context.destroy(() -> Libibverbs.ibvDestroySrq(CapturedErrno.current(), pointer)),
                    "closing a shared receive queue");
            context.closed();
        }
    }
}
