package dev.rackcall.cp.agent;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.request.CheckedRequest;
import dev.rackcall.cp.table.HostRecord;
import dev.rackcall.cp.table.NamedRegion;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.stream.Stream;

/**
 * A message between agents: a tenant's message to a port, or the report of how one ended. Agents trust each other; they
 * never interpret the tenant's payload.
 *
 * <pre>
 *   +0 kind (4) | +4 port, or status of an ANSWER (4)
 *   +8 virtual queue (8), a number of its agent | +16 message (8), a number of that queue
 *   +24 sender's host (8) | +32 sender's tenant (8), a number of its agent
 *   +40 payload's length (4) | of a payload that the receiver READs: +44 remote key (4), +48 address (8)
 *   +56 record of the sender's host (44) | +100 number of named regions (4), 2 at most
 *   +104 regions (24 each), which spare the receiver look-ups | payload, unless the receiver READs it
 * </pre>
 *
 * @param port the destination; in an ANSWER the code of a {@link dev.rackcall.verbs.CompletionStatus}
 * @param queue the virtual queue that it was pushed to
 * @param number its number among the requests of that queue
 * @param regions of the sending tenant, which the receiving host will soon use
 * @param payload empty if the receiver READs it
 */
record PortMessage(
        int kind,
        int port,
        long queue,
        long number,
        HostId host,
        HostRecord record,
        long tenant,
        int length,
        long address,
        int key,
        List<NamedRegion> regions,
        MemorySegment payload) {
    /** A message with its payload. */
    static final int SMALL = 1;
    /** A message that says where its payload is. */
    static final int LARGE = 2;
    /** Reports how a SMALL or LARGE message ended. */
    static final int ANSWER = 3;
    /** Asks whether the receiver still has a message; the device itself reports a dead host. */
    static final int PROBE = 4;

    static final int HEADER_BYTES = 104;
    static final int MAX_PAYLOAD = CheckedRequest.MAX_COPIED;
    static final int MAX_REGIONS = 2;
    static final int MAX_BYTES = HEADER_BYTES + MAX_REGIONS * NamedRegion.BYTES + MAX_PAYLOAD;

    private static final MemorySegment NOTHING = MemorySegment.ofArray(new byte[0]);
    private static final int RECORD = 56;

    /** Writes it. Returns its length in bytes. */
    int write(MemorySegment memory, long at) {
        ByteBuffer buffer = memory.asSlice(at, MAX_BYTES).asByteBuffer().order(ByteOrder.nativeOrder());
        buffer.putInt(kind)
                .putInt(port)
                .putLong(queue)
                .putLong(number)
                .putLong(host.value())
                .putLong(tenant);
        buffer.putInt(length).putInt(key).putLong(address);
        record.writeTo(buffer);
        buffer.putInt(regions.size());
        regions.forEach(region -> region.writeTo(buffer));
        int start = HEADER_BYTES + regions.size() * NamedRegion.BYTES;
        MemorySegment.copy(payload, 0, memory, at + start, payload.byteSize());
        return start + (int) payload.byteSize();
    }

    /** @throws IllegalArgumentException if the bytes are not such a message */
    static PortMessage read(MemorySegment memory, long at, int bytes) {
        if (bytes < HEADER_BYTES || bytes > MAX_BYTES) {
            throw new IllegalArgumentException("a message of " + bytes + " bytes between agents");
        }
        ByteBuffer buffer = memory.asSlice(at, bytes).asByteBuffer().order(ByteOrder.nativeOrder());
        int kind = buffer.getInt();
        int port = buffer.getInt();
        long queue = buffer.getLong();
        long number = buffer.getLong();
        HostId host = new HostId(buffer.getLong());
        long tenant = buffer.getLong();
        int length = buffer.getInt();
        int key = buffer.getInt();
        long address = buffer.getLong();
        HostRecord record = HostRecord.read(buffer.position(RECORD));
        int count = buffer.getInt();
        if (count < 0 || count > MAX_REGIONS || count * NamedRegion.BYTES > bytes - HEADER_BYTES) {
            throw new IllegalArgumentException(count + " regions in " + bytes + " bytes");
        }
        int start = HEADER_BYTES + count * NamedRegion.BYTES;
        boolean isHere = kind == SMALL;
        if (kind < SMALL || kind > PROBE || length < 0 || (isHere && length != bytes - start)) {
            throw new IllegalArgumentException("kind " + kind + ", " + length + " bytes in " + bytes);
        }
        List<NamedRegion> regions =
                Stream.generate(() -> NamedRegion.read(buffer)).limit(count).toList();
        MemorySegment payload = isHere ? copy(memory, at + start, length) : NOTHING;
        return new PortMessage(kind, port, queue, number, host, record, tenant, length, address, key, regions, payload);
    }

    private static MemorySegment copy(MemorySegment memory, long at, int length) {
        return MemorySegment.ofArray(memory.asSlice(at, length).toArray(JAVA_BYTE))
                .asReadOnly();
    }

    /** A report to the sender, or a probe. */
    static PortMessage about(int kind, int status, long queue, long number, HostId self, HostRecord record) {
        return new PortMessage(kind, status, queue, number, self, record, 0, 0, 0, 0, List.of(), NOTHING);
    }
}
