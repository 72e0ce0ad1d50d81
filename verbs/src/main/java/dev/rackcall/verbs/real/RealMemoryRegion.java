package dev.rackcall.verbs.real;

import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.ffi.Libibverbs;
import dev.rackcall.verbs.ffi.Structs.IbvMr;
import java.lang.foreign.MemorySegment;

/** A struct ibv_mr. Keeps the segment reachable, and with it memory of an automatic arena. */
final class RealMemoryRegion extends NativeObject implements MemoryRegion {
    private final MemorySegment memory;
    private final int localKey;
    private final int remoteKey;

    RealMemoryRegion(NativeContext device, MemorySegment memory, long pointer) {
        super(device, pointer, "a memory region");
        this.memory = memory;
        MemorySegment struct = MemorySegment.ofAddress(pointer).reinterpret(IbvMr.BYTES);
        localKey = IbvMr.LKEY.get(struct);
        remoteKey = IbvMr.RKEY.get(struct);
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
    int destroy() {
        return Libibverbs.ibvDeregMr(pointer());
    }
}
