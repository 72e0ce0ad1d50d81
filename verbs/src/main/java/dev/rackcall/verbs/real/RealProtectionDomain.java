package dev.rackcall.verbs.real;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.AddressHandle;
import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.ProtectionDomain;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.SharedReceiveQueue;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.ffi.Libibverbs;
import dev.rackcall.verbs.ffi.Structs.IbvAhAttr;
import dev.rackcall.verbs.ffi.Structs.IbvMr;
import dev.rackcall.verbs.ffi.Structs.IbvSrqInitAttr;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Set;

/** A struct ibv_pd. */
final class RealProtectionDomain extends NativeObject implements ProtectionDomain {
    RealProtectionDomain(NativeContext device, long pointer) {
        super(device, pointer, "a protection domain");
    }

    @Override
    public MemoryRegion register(MemorySegment memory, Set<Access> rights) {
        String what = "registering " + memory.byteSize() + " bytes with rights " + rights;
        if (!memory.isNative() || memory.byteSize() == 0 || memory.isReadOnly()) {
            throw new VerbsException(what, VerbsErrno.EFAULT, "register native, writable memory of 1 byte at least");
        }
        long region = Verb.pointer(
                Libibverbs.ibvRegMr(pointer(), memory.address(), memory.byteSize(), Access.bits(rights)), what);
        return new RealMemoryRegion(device(), memory, region);
    }

    @Override
    public QueuePair createQueuePair(QueuePairSpec spec) {
        return RealQueuePair.create(device(), pointer(), spec);
    }

    @Override
    public SharedReceiveQueue createSharedReceiveQueue(int requests, int segments) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment wanted = arena.allocate(IbvSrqInitAttr.LAYOUT);
            IbvSrqInitAttr.ATTR_MAX_WR.set(wanted, requests);
            IbvSrqInitAttr.ATTR_MAX_SGE.set(wanted, segments);
            long made = Verb.pointer(
                    Libibverbs.ibvCreateSrq(pointer(), wanted.address()),
                    "creating a shared receive queue of " + requests + " requests with " + segments + " segments");
            return new RealSharedReceiveQueue(device(), made, segments);
        }
    }

    @Override
    public AddressHandle createAddressHandle(AddressVector vector) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment wanted = arena.allocate(IbvAhAttr.LAYOUT);
            RealAddressHandle.write(vector, wanted, 0);
            long made = Verb.pointer(
                    Libibverbs.ibvCreateAh(pointer(), wanted.address()), "creating an address handle to " + vector);
            return new RealAddressHandle(device(), made);
        }
    }

    @Override
    int destroy() {
        return Libibverbs.ibvDeallocPd(pointer());
    }

    /** A struct ibv_mr. Keeps the segment reachable, so the memory of an automatic arena stays mapped. */
    private static final class RealMemoryRegion extends NativeObject implements MemoryRegion {
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
}
