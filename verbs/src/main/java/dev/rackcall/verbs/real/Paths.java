package dev.rackcall.verbs.real;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.ffi.IbvAhAttr;
import java.lang.foreign.MemorySegment;

/** Writes an address vector as struct ibv_ah_attr. */
final class Paths {
    private Paths() {}

    static void fill(MemorySegment struct, long at, AddressVector vector) {
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
}
