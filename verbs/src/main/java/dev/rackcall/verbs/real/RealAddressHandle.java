package dev.rackcall.verbs.real;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.rackcall.verbs.AddressHandle;
import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.ffi.Libibverbs;
import dev.rackcall.verbs.ffi.Structs.IbvAhAttr;
import java.lang.foreign.MemorySegment;

/** A struct ibv_ah. */
final class RealAddressHandle extends NativeObject implements AddressHandle {
    RealAddressHandle(NativeContext device, long pointer) {
        super(device, pointer, "an address handle");
    }

    /** Writes an address vector as struct ibv_ah_attr. */
    static void write(AddressVector vector, MemorySegment struct, long at) {
        MemorySegment attributes = struct.asSlice(at, IbvAhAttr.BYTES);
        MemorySegment gid = MemorySegment.ofArray(vector.gid().toBytes());
        MemorySegment.copy(gid, JAVA_BYTE, 0, attributes, JAVA_BYTE, IbvAhAttr.GRH_DGID_RAW, Gid.BYTES);
        IbvAhAttr.GRH_SGID_INDEX.set(attributes, vector.sourceGidIndex());
        IbvAhAttr.GRH_HOP_LIMIT.set(attributes, vector.hopLimit());
        IbvAhAttr.DLID.set(attributes, vector.lid());
        IbvAhAttr.SL.set(attributes, vector.serviceLevel());
        IbvAhAttr.IS_GLOBAL.set(attributes, 1);
        IbvAhAttr.PORT_NUM.set(attributes, vector.port());
    }

    @Override
    int destroy() {
        return Libibverbs.ibvDestroyAh(pointer());
    }
}
