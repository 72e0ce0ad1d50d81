package dev.rackcall.verbs.real;

import dev.rackcall.verbs.ffi.IbvContext;
import java.lang.foreign.MemorySegment;

/** The function pointers of a context that posting and polling go through. */
final class Operations {
    final MemorySegment pollCq;
    final MemorySegment requestNotification;
    final MemorySegment postSend;
    final MemorySegment postReceive;
    final MemorySegment postSharedReceive;

    Operations(MemorySegment context) {
        pollCq = MemorySegment.ofAddress(IbvContext.opsPollCq(context));
        requestNotification = MemorySegment.ofAddress(IbvContext.opsReqNotifyCq(context));
        postSend = MemorySegment.ofAddress(IbvContext.opsPostSend(context));
        postReceive = MemorySegment.ofAddress(IbvContext.opsPostRecv(context));
        postSharedReceive = MemorySegment.ofAddress(IbvContext.opsPostSrqRecv(context));
    }
}
