package dev.rackcall.rpc.shm;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.rpc.shm.protocol.SlotLayout;
import java.lang.foreign.MemorySegment;

/** The words of a slot that the races write and read. */
final class Slots {
    static final long TICKET = 41;
    static final long WORD = SlotLayout.word(TICKET, 3, SlotLayout.OUTSIDE, 24);
    static final long VALUE = 0x5261636b63616c6cL;

    private static final int WORDS = 3;
    private static final int CONTROL_BYTES = 1024;

    private Slots() {}

    static MemorySegment create() {
        return MemorySegment.ofArray(new long[SlotLayout.BYTES / Long.BYTES]);
    }

    /** As much of the control region as races need. */
    static MemorySegment control() {
        return MemorySegment.ofArray(new long[CONTROL_BYTES / Long.BYTES]);
    }

    /** Plain stores, as by a payload writer. */
    static void fill(MemorySegment slot, long offset) {
        for (int i = 0; i < WORDS; i++) {
            slot.set(JAVA_LONG, offset + (long) i * Long.BYTES, VALUE);
        }
    }

    static boolean isFull(MemorySegment slot, long offset) {
        boolean full = true;
        for (int i = 0; i < WORDS; i++) {
            full &= slot.get(JAVA_LONG, offset + (long) i * Long.BYTES) == VALUE;
        }
        return full;
    }
}
