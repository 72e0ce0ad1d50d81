package dev.rackcall.rpc.shm.mirror;

import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.os.file.Mapping;
import java.lang.foreign.MemorySegment;
import java.util.function.LongConsumer;

/** Carries requests to the server in ticket order: for each its payload, its slot's other fields, and last its word. */
final class ClientMirror extends MirrorBell {
    private final Handshake.ServerHello serverHello;
    private final int mask;
    /** Ticket of the next request to carry. Only for the thread that carries. */
    private long next;

    private LongConsumer stale = number -> {};

    /** @param mapping of this end's memory, closed with this bell */
    ClientMirror(Carrier carrier, Mapping mapping, Handshake.ServerHello serverHello) {
        super(carrier, mapping);
        this.serverHello = serverHello;
        this.mask = serverHello.slots() - 1;
    }

    /** Called before the connection is used. */
    void tells(LongConsumer listener) {
        stale = listener;
    }

    /**
     * Receives the number of an arena with a closed scope of which this client may hold a copy. Handled at once, on the
     * carrier's thread, even if all other threads sleep.
     */
    @Override
    public void told(long number) {
        stale.accept(number);
    }

    @Override
    boolean carryPublished() {
        MemorySegment memory = memory();
        boolean alive = true;
        // There cannot be more: a request that was not carried has no answer, and keeps its slot.
        for (int i = 0; i <= mask && alive; i++) {
            long slot = ControlLayout.slot((int) next & mask);
            long word = SlotLayout.requestWord(memory, slot);
            if (!SlotLayout.isOf(word, next)) {
                return true;
            }
            alive = carryRequest(memory, slot, word);
            next++;
        }
        return alive;
    }

    private boolean carryRequest(MemorySegment memory, long slot, long word) {
        int flags = SlotLayout.flags(word);
        if ((flags & SlotLayout.OUTSIDE) != 0) {
            long length = SlotLayout.requestLength(memory, slot);
            long ref = SlotLayout.requestRef(memory, slot);
            carrier.carryChanged(serverHello.request().offset() + Ref.offset(ref), length);
            carrier.carry(slot + SlotLayout.REQUEST_LENGTH, 2 * Long.BYTES);
        } else if (SlotLayout.inlineLength(word) > 0) {
            carrier.carry(slot + SlotLayout.REQUEST_INLINE, SlotLayout.inlineLength(word));
        }
        if ((flags & SlotLayout.DEADLINE) != 0) {
            long deadline = SlotLayout.requestDeadline(memory, slot) + carrier.clockAhead();
            carrier.store(slot + SlotLayout.REQUEST_DEADLINE, deadline);
        }
        if ((flags & SlotLayout.SNAPSHOT) != 0) {
            carrier.store(slot + SlotLayout.REQUEST_ISOLATION, SlotLayout.requestIsolation(memory, slot));
        }
        return carrier.publish(slot, word);
    }
}
