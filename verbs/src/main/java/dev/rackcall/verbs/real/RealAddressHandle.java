package dev.rackcall.verbs.real;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.rackcall.verbs.AddressHandle;
import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.ffi.CapturedErrno;
import dev.rackcall.verbs.ffi.IbvAhAttr;
import dev.rackcall.verbs.ffi.Libibverbs;
import java.lang.foreign.MemorySegment;

/** A struct ibv_ah. */
final class RealAddressHandle extends NativeObject implements AddressHandle {
    private final AddressVector vector;

    RealAddressHandle(NativeContext device, AddressVector vector, long pointer) {
        super(device, pointer);
        this.vector = vector;
    }

    /** Writes an address vector as struct ibv_ah_attr. */
    static void write(AddressVector vector, MemorySegment struct, long at) {
        MemorySegment attributes = struct.asSlice(at, IbvAhAttr.BYTES);
        MemorySegment gid = MemorySegment.ofArray(vector.gid().toBytes());
        MemorySegment.copy(gid, JAVA_BYTE, 0, attributes, JAVA_BYTE, IbvAhAttr.GRH_DGID_RAW, Gid.BYTES);
        IbvAhAttr.grhSgidIndex(attributes, (byte) vector.sourceGidIndex());
        IbvAhAttr.grhHopLimit(attributes, (byte) vector.hopLimit());
        IbvAhAttr.dlid(attributes, (short) vector.lid());
        IbvAhAttr.sl(attributes, (byte) vector.serviceLevel());
        IbvAhAttr.isGlobal(attributes, (byte) 1);
        IbvAhAttr.portNum(attributes, (byte) vector.port());
    }

    @Override
    public AddressVector vector() {
        return vector;
    }

    @Override
    int destroy() {
        return Libibverbs.ibvDestroyAh(CapturedErrno.current(), pointer());
    }

    @Override
    String describe() {
        return "an address handle";
    }
}
