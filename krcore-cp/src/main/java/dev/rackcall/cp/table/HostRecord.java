package dev.rackcall.cp.table;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.control.DcTarget;
import dev.rackcall.verbs.AddressHandle;
import dev.rackcall.verbs.Gid;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * How a host is reached while its agent lives: 44 bytes.
 *
 * <pre>
 *   +0 GID (16) | +16 epoch (4) | +20 target (3), log2 of the region table's buckets (1) | +24 target key (4)
 *   +28 control queue pair (4) | +32 region table's address (8) | +40 region table's key (4)
 * </pre>
 *
 * @param gid of its device
 * @param target number of its DC target, or {@link #NO_TARGET}
 * @param targetKey key of its DC target; each life draws another one, so requests for a former life do not reach it
 * @param control number of its queue pair for control messages
 * @param regions its table of memory regions; the table's epoch is the host's
 */
public record HostRecord(Gid gid, int target, int targetKey, int control, TableLocation regions) {
    public static final int BYTES = 44;
    /** The target number of a device without DC targets. */
    public static final int NO_TARGET = 0;

    /** Size in the table, with the header and four spare bytes. */
    public static final int RECORD_BYTES = 64;

    private static final int NUMBER_BITS = 24;
    private static final int NUMBER_MASK = (1 << NUMBER_BITS) - 1;

    public int epoch() {
        return regions.epoch();
    }

    /** Its DC target. */
    public DcTarget target(AddressHandle handle) {
        return new DcTarget(handle, target, DcTarget.key(targetKey));
    }

    public ControlAddress controlAddress() {
        return new ControlAddress(gid, control);
    }

    public boolean hasTarget() {
        return target != NO_TARGET;
    }

    public byte[] toBytes() {
        ByteBuffer buffer = ByteBuffer.allocate(BYTES).order(ByteOrder.nativeOrder());
        writeTo(buffer);
        return buffer.array();
    }

    public void writeTo(ByteBuffer buffer) {
        buffer.putLong(gid.high()).putLong(gid.low()).putInt(regions.epoch());
        buffer.putInt(target | regions.log2Buckets() << NUMBER_BITS).putInt(targetKey);
        buffer.putInt(control).putLong(regions.address()).putInt(regions.key());
    }

    /** @throws IllegalArgumentException if the bytes are not a record */
    public static HostRecord read(ByteBuffer buffer) {
        Gid gid = new Gid(buffer.getLong(), buffer.getLong());
        int epoch = buffer.getInt();
        int target = buffer.getInt();
        int targetKey = buffer.getInt();
        int control = buffer.getInt();
        long address = buffer.getLong();
        int key = buffer.getInt();
        TableLocation regions = new TableLocation(address, key, target >>> NUMBER_BITS, epoch);
        return new HostRecord(gid, target & NUMBER_MASK, targetKey, control & NUMBER_MASK, regions);
    }
}
