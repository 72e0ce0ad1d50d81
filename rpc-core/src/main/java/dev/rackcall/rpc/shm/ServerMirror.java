package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.os.Mapping;
import java.lang.foreign.MemorySegment;

/** Carries answers to the client: of each its payload, what its slot says about it, and its word; then how many requests were taken, and whether the server drains. */
final class ServerMirror extends MirrorBell {
    private final Handshake.Welcome welcome;
    // Of what was carried last. Whoever carries.
    private final long[] words;
    private long consumed;
    private int state = ControlLayout.STATE_OPEN;

    /** @param mapping of this end's memory, closed with this bell */
    ServerMirror(Carrier carrier, Mapping mapping, Handshake.Welcome welcome) {
        super(carrier, mapping);
        this.welcome = welcome;
        this.words = new long[welcome.slots()];
    }

    @Override
    boolean carryPublished() {
        MemorySegment memory = memory();
        boolean alive = true;
        for (int i = 0; i < words.length && alive; i++) {
            long slot = ControlLayout.slot(i);
            long word = SlotLayout.responseWord(memory, slot);
            if (word != words[i]) {
                words[i] = word;
                alive = carryResponse(memory, slot, word);
            }
        }
        long taken = ControlLayout.consumed(memory);
        if (taken != consumed) {
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
