package dev.rackcall.verbs.real;

import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.ffi.CapturedErrno;
import dev.rackcall.verbs.ffi.IbvMr;
import dev.rackcall.verbs.ffi.Libibverbs;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicBoolean;

/** A struct ibv_mr. Holds on to the segment, so that memory of an automatic arena stays. */
final class RealMemoryRegion implements MemoryRegion {
    private final RealContext context;
    private final MemorySegment memory;
    private final long pointer;
    private final int localKey;
    private final int remoteKey;
    private final AtomicBoolean closed = new AtomicBoolean();

    RealMemoryRegion(RealContext context, MemorySegment memory, long pointer) {
        this.context = context;
        this.memory = memory;
        this.pointer = pointer;
        MemorySegment struct = MemorySegment.ofAddress(pointer).reinterpret(IbvMr.BYTES);
        localKey = IbvMr.lkey(struct);
        remoteKey = IbvMr.rkey(struct);
        context.opened();
    }

    @Override
    public MemorySegment memory() {
        return memory;
    }

    @Override
    public long address() {
        return memory.address();
    }

    @Override
    public long byteSize() {
        return memory.byteSize();
    }

    @Override
    public int localKey() {
        return localKey;
    }

    @Override
    public int remoteKey() {
        return remoteKey;
    }

    @Override
    public void close() {
        if (closed.compareAndSet(false, true)) {
            Closing.run(
                    closed, () -> Libibverbs.ibvDeregMr(CapturedErrno.current(), pointer), "closing a memory region");
            context.closed();
        }
    }
}
