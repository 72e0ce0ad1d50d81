package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.spi.Bell;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.sandbox.SealException;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.file.Unmapping;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;

/**
 * What a connection stands on at the server: the bell that proves the client's life, the memory that both map, the arenas in it, and the
 * Refs that may be followed for this client. Owned by one {@link ShmServerConnection}.
 */
final class ServerLink {
    private final Bell bell;
    private final SharedFile file;
    private final Mapping mapping;
    private final HandlerWalls.Wall wall;
    private final ServerSpec spec;
    private final SharedPool shared;
    private final Handshake.Welcome welcome;
    private final Peer peer;
    private final Arena replyArena;
    private final Arena requestArena;
    private final MemorySegment requestMemory;
    private final ArenaTable refs;
    private final ConnectionCount count;
    private final Runnable onRelease;
    private final AtomicBoolean released = new AtomicBoolean();
    private volatile boolean told;
    private volatile boolean rungEarly;
    /** Empty in shared memory. Set before the connection is used, as is {@link #replies}. */
    @SuppressWarnings("OptionalUsedAsFieldOrParameterType")
    private Optional<MirroredLink> mirrored = Optional.empty();

    private final ReceivedSeals seals;
    private ReplyScopes replies;
    private final ReturnedObjects objects;

    ServerLink(
            Bell bell,
            SharedFile file,
            Mapping mapping,
            HandlerWalls.Wall wall,
            ServerSpec spec,
            SharedPool shared,
            Handshake.Welcome welcome,
            Peer peer,
            Arena requestArena,
            Arena replyArena,
            ConnectionCount count,
            Runnable onRelease) {
        this.bell = bell;
        this.file = file;
        this.mapping = mapping;
        this.wall = wall;
        this.spec = spec;
        this.shared = shared;
        this.welcome = welcome;
        this.peer = peer;
        this.replyArena = replyArena;
        this.requestArena = requestArena;
        this.requestMemory = requestArena.memory();
        this.seals = new ReceivedSeals(file, mapping.memory(), welcome, requestArena);
        this.count = count;
        this.onRelease = onRelease;
        this.refs = ArenaTable.create();
        refs.add(requestArena);
        refs.add(replyArena);
        refs.add(shared.arena());
        this.replies = new ReplyScopes(replyArena, refs);
        this.objects = new ReturnedObjects(this, welcome, shared.arena());
    }

    /**
     * The client has memory of its own: what is returned is carried over.
     *
     * @param channel where its scopes are open for others, and theirs for it
     */
    void mirroredBy(ServerMirror mirror, ChannelScopes channel) {
        NodeScopes node = channel.join(requestArena, mirror::ring);
        RefSpace everywhere = channel.space(refs, node);
        mirrored = Optional.of(new MirroredLink(mirror, node, everywhere, welcome.request()));
        replies = new ReplyScopes(replyArena, everywhere);
        // To this side the client's reactor always sleeps, so that answers ring.
        ControlLayout.reactorAsleep(memory(), true);
    }

    /** An answer was published in that slot. */
    void answered(int index) {
        if (mirrored.isPresent()) {
            mirrored.get().mirror().answered(index);
        }
    }

    boolean isMirrored() {
        return mirrored.isPresent();
    }

    private ServerMirror mirror() {
        return mirrored.orElseThrow().mirror();
    }

    /** What the client has open for other nodes, if it shares no memory with them. */
    Optional<NodeScopes> node() {
        return mirrored.map(MirroredLink::node);
    }

    /** A call passes a shared object: what the client has pushed for it may be read by those whom it lets. */
    void hasPassed() {
        if (mirrored.isPresent()) {
            mirrored.get().node().passed();
        }
    }

    /** As {@link dev.rackcall.rpc.spi.Carrier#pausesPerLook}. Only of a mirrored connection. */
    int pausesPerLook() {
        return mirror().carrier.pausesPerLook();
    }

    /** Takes in what has arrived. Only of a mirrored connection. */
    void look() {
        mirror().look();
    }

    /** Before the last look at a connection that will not be polled: from now on the client's next request rings. */
    void listen() {
        if (mirrored.isPresent()) {
            mirror().listen();
        }
    }

    MemorySegment memory() {
        return mapping.memory();
    }

    int slots() {
        return welcome.slots();
    }

    /** What the handlers of this client's calls run behind. */
    HandlerWalls.Wall wall() {
        return wall;
    }

    ServerSpec spec() {
        return spec;
    }

    Peer peer() {
        return peer;
    }

    int bellFd() {
        return bell.fd();
    }

    /** Reads the client's rings; negative once it is gone. Those with a number are tickets of calls that it cancels. */
    int drainRings(LongConsumer cancelled) {
        return bell.drain(cancelled);
    }

    void ring() {
        if (!told) {
            rungEarly = true;
            // Volatile store above, then this look; who tells the client says so before he looks whether it was rung
            // for.
            if (!told) {
                return;
            }
        }
        bell.ring();
    }

    /** The client has been sent what it needs: a ring before that it would take for it. */
    void told() {
        told = true;
        if (rungEarly) {
            bell.ring();
        }
    }

    Arena replyArena() {
        return replyArena;
    }

    MemorySegment requestMemory() {
        return requestMemory;
    }

    /** Whether a payload that a client claims lies wholly in its own request arena. */
    boolean isRequestPayload(long ref, long length) {
        return Ref.arenaId(ref) == welcome.request().id()
                && length >= 0
                && length <= requestMemory.byteSize()
                && Ref.offset(ref) <= requestMemory.byteSize() - length;
    }

    /** Where the Refs of trusted arguments are followed: everywhere that this client maps. */
    RefSpace refs() {
        return mirrored.isPresent() ? mirrored.get().refs() : refs;
    }

    /**
     * The arena in which a client's isolated arguments lie: its own, or the one that all share.
     *
     * @throws RefException if the Ref names no such arena
     */
    Arena argumentArena(long ref) {
        if (Ref.arenaId(ref) == requestArena.id()) {
            return requestArena;
        }
        if (Ref.arenaId(ref) == shared.arena().id()) {
            return shared.arena();
        }
        throw new RefException(Ref.describe(ref) + " is no scope of its caller's");
    }

    /** What its client has sealed in its request arena. */
    ReceivedSeals seals() {
        if (isMirrored()) {
            throw new SealException("a seal protects the client's memory, and this is a mirror of it");
        }
        return seals;
    }

    /** A request names a seal under which its call did not read. */
    void giveUp(long seal) {
        if (!isMirrored()) {
            seals.giveUp(seal);
        }
    }

    /**
     * Where Refs are followed of arguments that have stayed with the client.
     *
     * @param deadline until when the call's caller waits; 0 if it has not said so
     * @throws RefException if this client shares its memory, so that there is nothing to fetch
     * @throws dev.rackcall.rpc.RpcException RESOURCE_EXHAUSTED if there is no memory for what is fetched
     */
    RefSpace fetched(long deadline) {
        return mirrored.orElseThrow(() ->
                        new RefException("arguments that are to be fetched came from a client that shares its memory"))
                .fetched(deadline);
    }

    /** The only arena in which scopes can be sealed: others than its client could write in the shared one. */
    Arena requestArena() {
        return requestArena;
    }

    /** What its callers own of the reply arena. */
    ReplyScopes replies() {
        return replies;
    }

    /** What its handlers may return and keep. */
    ReturnedObjects objects() {
        return objects;
    }

    /** Whether memory is this connection's own: mapped by both sides, or fetched from the client. */
    boolean owns(MemorySegment.Scope mapped) {
        return mapped.equals(mapping.memory().scope())
                || (mirrored.isPresent() && mirrored.get().isFetched(mapped));
    }

    /** Whether a Ref names an arena of this connection's own. */
    boolean isOwn(long ref) {
        return Ref.arenaId(ref) == welcome.request().id()
                || Ref.arenaId(ref) == welcome.reply().id();
    }

    /** Sends a scope of the reply arena to the client's mirror of it, before the answer that names it. Only of a mirrored connection. */
    void carryReply(long ref) {
        mirror().carryScope(replyArena, welcome.reply().offset(), ref, Long.MAX_VALUE);
    }

    // ---- the end

    /** Closes the bell: the client sees the connection end. */
    void hangUp() {
        count.hangsUp();
        node().ifPresent(NodeScopes::end);
        bell.close();
    }

    /** What its server counts. */
    ConnectionCount count() {
        return count;
    }

    /** Unmaps the memory, as soon as nobody has handed a part of it to the kernel; no call is under way and none will be. */
    void release() {
        if (released.compareAndSet(false, true)) {
            try {
                wall.close();
                mirrored.ifPresent(MirroredLink::release);
            } finally {
                Unmapping.of(List.of(mapping), this::unmapped);
            }
        }
    }

    private void unmapped() {
        try {
            mirrored.ifPresent(MirroredLink::released);
            // After the memory: a handler whose answer is late may mark a seal done, and looks for the memory's end
            // only.
            seals.close();
            file.close();
        } finally {
            left();
        }
    }

    /** Whatever went wrong before: the client's number and what it had in the shared arena must not stay taken. */
    private void left() {
        try {
            shared.leave(welcome.participant());
        } finally {
            count.isReleased();
            onRelease.run();
        }
    }
}
