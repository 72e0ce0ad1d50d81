package dev.rackcall.cp;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.EnumSet;

/** Registered memory for messages on their way out, one each. Any thread may use it. */
final class MessageSlots {
    static final int SLOT_BYTES = 640;

    private final MemorySegment memory;
    private final MemoryRegion region;
    private final int count;
    private final int[] bytes;
    private final BitSet used = new BitSet();

    MessageSlots(DeviceEnd end, int count) {
        this.count = count;
        bytes = new int[count];
        memory = Arena.ofAuto().allocate((long) count * SLOT_BYTES, 64);
        region = end.keep(end.domain().register(memory, EnumSet.of(Access.LOCAL_WRITE)));
    }

    /** Returns the number of a free one, or -1. */
    synchronized int claim() {
        int free = used.nextClearBit(0);
        if (free >= count) {
            return -1;
        }
        used.set(free);
        return free;
    }

    synchronized void free(int slot) {
        used.clear(slot);
    }

    void write(int slot, Message message) {
        bytes[slot] = message.write(memory, (long) slot * SLOT_BYTES);
    }

    /** Length of the message in it. */
    int bytes(int slot) {
        return bytes[slot];
    }

    long address(int slot) {
        return region.address() + (long) slot * SLOT_BYTES;
    }

    int key() {
        return region.localKey();
    }
}
