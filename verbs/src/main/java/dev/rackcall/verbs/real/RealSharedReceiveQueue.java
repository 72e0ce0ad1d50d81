package dev.rackcall.verbs.real;

import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.SharedReceiveQueue;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.ffi.ContextOperations;
import dev.rackcall.verbs.ffi.Libibverbs;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.ref.Reference;

/** A struct ibv_srq. */
final class RealSharedReceiveQueue extends NativeObject implements SharedReceiveQueue {
    private final int segments;
    private final MemorySegment bad = Arena.ofAuto().allocate(ValueLayout.JAVA_LONG);

    RealSharedReceiveQueue(NativeContext device, long pointer, int segments) {
        super(device, pointer, "a shared receive queue");
        this.segments = segments;
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
                    device().postSharedReceive, pointer(), request.struct().address(), bad.address());
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
    int destroy() {
        return device().destroy(() -> Libibverbs.ibvDestroySrq(pointer()));
    }
}
