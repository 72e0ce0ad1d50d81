package dev.rackcall.cp.agent;

import dev.rackcall.cp.control.HostDevice;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.BitSet;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;

/** Registered memory for messages that are being sent, one slot each. Any thread may use it. */
final class MessageSlots {
    static final int SLOT_BYTES = 704;
    /** The owner of the agent's own messages, in place of a tenant's number. */
    static final long AGENT = 0;

    /** Slots for the agent's own messages: replies that senders wait for. */
    private static final int RESERVED = 64;

    private final MemorySegment memory;
    private final MemoryRegion region;
    private final int count;
    private final int[] bytes;
    /** Guarded by the monitor, with what follows. */
    private final BitSet used = new BitSet();

    private final long[] owners;
    private final Map<Long, Integer> held = new HashMap<>();

    MessageSlots(HostDevice end, int count) {
        this.count = count;
        bytes = new int[count];
        owners = new long[count];
        memory = Arena.ofAuto().allocate((long) count * SLOT_BYTES, 64);
        region = end.keep(end.domain().register(memory, EnumSet.of(Access.LOCAL_WRITE)));
    }

    /**
     * Claims a slot; returns its number, or -1. A tenant may claim a slot while it holds fewer slots than are free,
     * without those reserved for the agent.
     *
     * @param owner the tenant's number, or {@link #AGENT}
     */
    synchronized int claim(long owner) {
        int mine = held.getOrDefault(owner, 0);
        if (owner != AGENT && mine >= count - RESERVED - used.cardinality()) {
            return -1;
        }
        int free = used.nextClearBit(0);
        if (free >= count) {
            return -1;
        }
        used.set(free);
        owners[free] = owner;
        held.put(owner, mine + 1);
        return free;
    }

    synchronized void free(int slot) {
        used.clear(slot);
        held.computeIfPresent(owners[slot], (owner, mine) -> mine == 1 ? null : mine - 1);
    }

    void write(int slot, PortMessage message) {
        bytes[slot] = message.write(memory, (long) slot * SLOT_BYTES);
    }

    /** Length of the slot's message. */
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
