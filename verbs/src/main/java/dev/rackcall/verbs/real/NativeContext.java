package dev.rackcall.verbs.real;

import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.ffi.Libibverbs;
import dev.rackcall.verbs.ffi.Structs.IbvContext;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntSupplier;

/** A struct ibv_context: its function pointers for posting and polling, and the number of objects in it. */
final class NativeContext {
    private static final int CLOSED = Integer.MIN_VALUE;

    final MemorySegment pollCq;
    final MemorySegment requestNotification;
    final MemorySegment postSend;
    final MemorySegment postReceive;
    final MemorySegment postSharedReceive;
    private final String name;
    private final long pointer;
    private final int eventDescriptor;
    private final AtomicInteger children = new AtomicInteger();
    /** Held while a pending event is read, and while an object that events may concern is destroyed. */
    private final Object reading = new Object();

    NativeContext(String name, long pointer) {
        this.name = name;
        this.pointer = pointer;
        MemorySegment context = MemorySegment.ofAddress(pointer).reinterpret(IbvContext.BYTES);
        eventDescriptor = IbvContext.ASYNC_FD.get(context);
        pollCq = MemorySegment.ofAddress(IbvContext.OPS_POLL_CQ.get(context));
        requestNotification = MemorySegment.ofAddress(IbvContext.OPS_REQ_NOTIFY_CQ.get(context));
        postSend = MemorySegment.ofAddress(IbvContext.OPS_POST_SEND.get(context));
        postReceive = MemorySegment.ofAddress(IbvContext.OPS_POST_RECV.get(context));
        postSharedReceive = MemorySegment.ofAddress(IbvContext.OPS_POST_SRQ_RECV.get(context));
    }

    String name() {
        return name;
    }

    long pointer() {
        return pointer;
    }

    int eventDescriptor() {
        return eventDescriptor;
    }

    Object reading() {
        return reading;
    }

    void opened() {
        children.incrementAndGet();
    }

    void closed() {
        children.decrementAndGet();
    }

    /**
     * Destroys an object. The library drops its pending events. Without the lock, another thread could start to read a
     * dropped event and block until the next one.
     */
    int destroy(IntSupplier verb) {
        synchronized (reading) {
            return verb.getAsInt();
        }
    }

    void close() {
        int left = children.compareAndExchange(0, CLOSED);
        if (left > 0) {
            throw Verb.failure("closing " + name + " with " + left + " objects left in it", VerbsErrno.EBUSY);
        }
        if (left == 0) {
            Verb.zero(Libibverbs.ibvCloseDevice(pointer), "closing " + name);
        }
    }
}
