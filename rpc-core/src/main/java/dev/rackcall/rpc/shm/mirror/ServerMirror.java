package dev.rackcall.rpc.shm.mirror;

import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.os.file.Mapping;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicLongArray;

/** Carries answers to the client, looking at those slots only that have a new one: of each its payload, what its slot says about it, and its word; then now and then how many requests were taken, and whether the server drains. */
final class ServerMirror extends MirrorBell {
    private final Handshake.Welcome welcome;
    /** A bit for each slot that has an answer which was not carried; set by who publishes, taken by who carries. */
    private final AtomicLongArray answered;
    /** So many requests are taken before the client hears of it, since that is a message: it finds room in the slots that are left meanwhile. */
    private final int unsaid;
    // Of what was carried last. Whoever carries.
    private long consumed;
    private int state = ControlLayout.STATE_OPEN;

    /** @param mapping of this end's memory, closed with this bell */
    ServerMirror(Carrier carrier, Mapping mapping, Handshake.Welcome welcome) {
        super(carrier, mapping);
        this.welcome = welcome;
        this.unsaid = Math.ceilDiv(welcome.slots(), 4);
        this.answered = new AtomicLongArray((welcome.slots() + Long.SIZE - 1) / Long.SIZE);
    }

    /** An answer was published in that slot, and whoever has done so rings. */
    void answered(int index) {
        // Volatile, behind the word: who takes the bit sees the answer.
        answered.getAndAccumulate(index / Long.SIZE, 1L << index, (bits, bit) -> bits | bit);
    }

    @Override
    boolean carryPublished() {
        MemorySegment memory = memory();
        boolean alive = true;
        for (int i = 0; i < answered.length() && alive; i++) {
            long bits = answered.get(i) == 0 ? 0 : answered.getAndSet(i, 0);
            for (; bits != 0 && alive; bits &= bits - 1) {
                long slot = ControlLayout.slot(i * Long.SIZE + Long.numberOfTrailingZeros(bits));
                alive = carryResponse(memory, slot, SlotLayout.responseWord(memory, slot));
            }
        }
        long taken = ControlLayout.consumed(memory);
        if (taken - consumed >= unsaid) {
            consumed = taken;
            // Nobody sleeps for this: who needs it looks again and again.
            alive = alive && carrier.store(ControlLayout.CONSUMED, taken) && carrier.flush();
        }
        int now = ControlLayout.state(memory);
        if (now != state) {
            state = now;
            alive = alive && carrier.proclaim(ControlLayout.WATCHED, (long) now << Integer.SIZE);
        }
        return alive;
    }

    private boolean carryResponse(MemorySegment memory, long slot, long word) {
        if ((SlotLayout.flags(word) & SlotLayout.OUTSIDE) != 0) {
            long length = SlotLayout.responseLength(memory, slot);
            long ref = SlotLayout.responseRef(memory, slot);
            carrier.carryChanged(welcome.reply().offset() + Ref.offset(ref), length);
            carrier.carry(slot + SlotLayout.RESPONSE_LENGTH, 2 * Long.BYTES);
        } else if (SlotLayout.inlineLength(word) > 0) {
            carrier.carry(slot + SlotLayout.RESPONSE_INLINE, SlotLayout.inlineLength(word));
        }
        return carrier.publish(slot + SlotLayout.RESPONSE_WORD, word);
    }
}
