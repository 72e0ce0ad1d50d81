package dev.rackcall.rpc.shm.mirror;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.ControlOp;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.shm.server.MirroredClient;
import dev.rackcall.rpc.shm.server.ServerEnd;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.codec.PayloadWriter;
import dev.rackcall.shm.os.file.Mapping;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.Supplier;

/**
 * The server's bell for a client with memory of its own. It carries answers: for each slot with a new one its payload,
 * its other fields, and its word. Now and then it also carries the number of requests taken, and the server's state.
 */
final class ServerMirror extends MirrorBell implements MirroredClient {
    /** Maximum number of bytes per fetch. */
    static final int MOST_BYTES = 64 << 10;

    private final Handshake.ServerHello serverHello;
    /**
     * A bit for each slot with an answer that was not carried; set after publishing, cleared by the thread that
     * carries.
     */
    private final AtomicLongArray answered;
    /**
     * Number of requests taken before the client is notified, because each notification costs a message. Meanwhile the
     * client uses its remaining slots.
     */
    private final int unsaid;
    /** Set before the connection is used, like the next three fields. */
    private NodeScopes node;

    private RefSpace refs;
    private Arena requests;
    private Arena replies;
    /** Null until arguments have to be fetched for the first time. */
    private volatile FetchedArena fetched;
    // Values last carried. Only for the thread that carries.
    private long consumed;
    private int state = ControlLayout.STATE_OPEN;

    /** @param mapping of this end's memory, closed with this bell */
    ServerMirror(Carrier carrier, Mapping mapping, Handshake.ServerHello serverHello) {
        super(carrier, mapping);
        this.serverHello = serverHello;
        this.unsaid = Math.ceilDiv(serverHello.slots(), 4);
        this.answered = new AtomicLongArray((serverHello.slots() + Long.SIZE - 1) / Long.SIZE);
    }

    /**
     * Joins the channel's shared scopes, before the connection is used.
     *
     * @param channel where clients open scopes for each other
     */
    void join(ChannelScopes channel, ServerEnd end) {
        requests = end.requestArena();
        node = channel.join(requests, this::tell);
        refs = channel.space(end.refs(), node);
        replies = end.replyArena();
        end.mirroredBy(this);
    }

    @Override
    public void answered(int index) {
        // Volatile, after the word: a thread that takes the bit sees the answer.
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
            // No thread sleeps while it waits for this value; clients that need it poll.
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
            carrier.carryChanged(serverHello.reply().offset() + Ref.offset(ref), length);
            carrier.carry(slot + SlotLayout.RESPONSE_LENGTH, 2 * Long.BYTES);
        } else if (SlotLayout.inlineLength(word) > 0) {
            carrier.carry(slot + SlotLayout.RESPONSE_INLINE, SlotLayout.inlineLength(word));
        }
        return carrier.publish(slot + SlotLayout.RESPONSE_WORD, word);
    }

    // ---- shared scopes

    @Override
    public void hasPassed() {
        node.passed();
    }

    @Override
    public boolean isOpenForAll(MemorySegment.Scope mapped, long ref) {
        return node.channel().holds(mapped, ref);
    }

    @Override
    public void carryReply(long ref) {
        carryScope(replies, serverHello.reply().offset(), ref, Long.MAX_VALUE);
    }

    @Override
    public Optional<Scope> adopt(Object argument, long ref, String method) {
        return node.holds(ref) ? Optional.of(node.channel().adopt(argument, method)) : Optional.empty();
    }

    @Override
    public void serve(int op, long ref, long bytes, Supplier<PayloadWriter> result) {
        switch (op) {
            case ControlOp.SHARE -> node.share(ref);
            case ControlOp.UNSHARE -> node.unshare(ref);
            default -> fetch(ref, bytes, result);
        }
    }

    private void fetch(long ref, long bytes, Supplier<PayloadWriter> result) {
        if (bytes <= 0 || bytes > MOST_BYTES) {
            throw Status.Code.INVALID_ARGUMENT
                    .with("%d bytes asked at once; ask for 1 to %d", bytes, MOST_BYTES)
                    .asException();
        }
        long arenaBytes = node.channel().arenaBytes(ref);
        byte[] found = node.channel().copy(ref, (int) bytes, node);
        PayloadWriter out = result.get();
        out.writeLong(arenaBytes);
        out.writeBytes(found, "pages");
    }

    @Override
    public void end() {
        node.end();
    }

    @Override
    public RefSpace refs() {
        return refs;
    }

    @Override
    public RefSpace fetched(long deadline) {
        FetchedArena present = fetched;
        return (present != null ? present : makeFetched()).space(refs, deadline);
    }

    private synchronized FetchedArena makeFetched() {
        if (fetched == null) {
            fetched = FetchedArena.open(carrier, requests.memory(), serverHello.request());
        }
        return fetched;
    }

    @Override
    public boolean isFetched(MemorySegment.Scope mapped) {
        FetchedArena present = fetched;
        return present != null && present.isIn(mapped);
    }

    @Override
    public void release() {
        if (fetched != null) {
            fetched.close();
        }
    }

    @Override
    public void released() {
        node.channel().forget(node);
    }
}
