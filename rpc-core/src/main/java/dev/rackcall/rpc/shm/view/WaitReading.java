package dev.rackcall.rpc.shm.view;

import dev.rackcall.rpc.shm.protocol.CallWaits;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import java.lang.foreign.MemorySegment;

/**
 * How often callers and the server of a connection waited, modulo 2^32. Callers that only spun are not counted. The
 * connection's processes may lie.
 *
 * @param yielded callers that yielded their processor until the answer came, and did not sleep
 * @param slept callers that slept until the answer came
 * @param slots callers that waited for a free slot
 * @param pauses how often the server stopped polling the connection
 */
public record WaitReading(int yielded, int slept, int slots, int pauses) {
    /** That of a connection that counts no waits. */
    static final WaitReading NONE = new WaitReading(0, 0, 0, 0);

    static WaitReading of(MemorySegment header) {
        return new WaitReading(
                CallWaits.count(header, CallWaits.Kind.YIELDED),
                CallWaits.count(header, CallWaits.Kind.SLEPT),
                CallWaits.count(header, CallWaits.Kind.SLOT),
                ControlLayout.pauses(header));
    }

    /** What came after {@code earlier}; a counter that went back was overwritten, and gives 0. */
    public WaitReading since(WaitReading earlier) {
        return new WaitReading(
                Math.max(0, yielded - earlier.yielded),
                Math.max(0, slept - earlier.slept),
                Math.max(0, slots - earlier.slots),
                Math.max(0, pauses - earlier.pauses));
    }
}
