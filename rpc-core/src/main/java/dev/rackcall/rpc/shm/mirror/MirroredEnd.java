package dev.rackcall.rpc.shm.mirror;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.ControlOp;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.server.MirroredClient;
import dev.rackcall.rpc.shm.server.ServerEnd;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.codec.PayloadWriter;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.Supplier;

/** What a connection has at the server if its client has memory of its own. */
final class MirroredEnd implements MirroredClient {
    /** The most that is fetched at once. */
    static final int MOST_BYTES = 64 << 10;

    private final ServerMirror mirror;
    private final NodeScopes node;
    private final RefSpace refs;
    private final Arena replies;
    private final Handshake.Welcome welcome;

    /** Null until the first arguments come that are to be fetched. */
    private volatile FetchedArena fetched;

    /** @param channel where the client's scopes are open for others, and theirs for it */
    MirroredEnd(ServerMirror mirror, ChannelScopes channel, ServerEnd link) {
        this.mirror = mirror;
        this.node = channel.join(link.requestArena(), mirror::tell);
        this.refs = channel.space(link.refs(), node);
        this.replies = link.replyArena();
        this.welcome = link.welcome();
    }

    @Override
    public void answered(int index) {
        mirror.answered(index);
    }

    @Override
    public void push() {
        mirror.push();
    }

    @Override
    public void look() {
        mirror.look();
    }

    @Override
    public void listen() {
        mirror.listen();
    }

    @Override
    public int pausesPerLook() {
        return mirror.pausesPerLook();
    }

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
        mirror.carryScope(replies, welcome.reply().offset(), ref, Long.MAX_VALUE);
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
            fetched = FetchedArena.open(mirror.carrier, mirror.memory(), welcome.request());
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
