package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.shm.protocol.Bell;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
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
public final class ServerEnd {
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
    /** Null in shared memory. Set before the connection is used, as is {@link #replies}. */
    private MirroredClient mirrored;

    private final ReceivedSeals seals;
    private ReplyScopes replies;
    private final ReturnedObjects objects;

    ServerEnd(
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

    /** The client has memory of its own: what is returned is carried over. */
    public void mirroredBy(MirroredClient client) {
        mirrored = client;
        replies = new ReplyScopes(replyArena, client.refs());
        // To this side the client's reactor always sleeps, so that answers are pushed.
        ControlLayout.reactorAsleep(memory(), true);
    }

    /** An answer was published in that slot. */
    void answered(int index) {
        if (mirrored != null) {
            mirrored.answered(index);
        }
    }

    boolean isMirrored() {
        return mirrored != null;
    }

    /** What it has for a client with memory of its own. */
    Optional<MirroredClient> mirrored() {
        return Optional.ofNullable(mirrored);
    }

    /** A call passes a shared object: what the client has pushed for it may be read by those whom it lets. */
    void hasPassed() {
        if (mirrored != null) {
            mirrored.hasPassed();
        }
    }

    /** As {@link dev.rackcall.rpc.spi.Carrier#pausesPerLook}. Only of a mirrored connection. */
    int pausesPerLook() {
        return mirrored.pausesPerLook();
    }

    /** Takes in what has arrived. Only of a mirrored connection. */
    void look() {
        mirrored.look();
    }

    /** Before the last look at a connection that will not be polled: from now on the client's next request rings. */
    void listen() {
        if (mirrored != null) {
            mirrored.listen();
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

    /** Wakes a client that sleeps. */
    void ring() {
        if (isTold()) {
            bell.ring();
        }
    }

    /** Carries what was published to a client that has memory of its own. */
    void push() {
        if (isTold()) {
            mirrored.push();
        }
    }

    /** Whether the client knows of the connection; if not, {@link #told} rings. */
    private boolean isTold() {
        if (!told) {
            rungEarly = true;
            // Volatile store above, then this look; who tells the client says so before he looks whether it was rung
            // for.
            return told;
        }
        return true;
    }

    /** The client has been sent what it needs: a ring before that it would take for it. */
    public void told() {
        told = true;
        if (rungEarly) {
            bell.ring();
        }
    }

    public Handshake.Welcome welcome() {
        return welcome;
    }

    public Arena replyArena() {
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
    public RefSpace refs() {
        return mirrored != null ? mirrored.refs() : refs;
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
        if (mirrored == null) {
            throw new RefException("arguments that are to be fetched came from a client that shares its memory");
        }
        return mirrored.fetched(deadline);
    }

    /** The only arena in which scopes can be sealed: others than its client could write in the shared one. */
    public Arena requestArena() {
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
        return mapped.equals(mapping.memory().scope()) || (mirrored != null && mirrored.isFetched(mapped));
    }

    /** Whether a Ref names an arena of this connection's own. */
    boolean isOwn(long ref) {
        return Ref.arenaId(ref) == welcome.request().id()
                || Ref.arenaId(ref) == welcome.reply().id();
    }

    // ---- the end

    /** Closes the bell: the client sees the connection end. */
    void hangUp() {
        count.hangsUp();
        mirrored().ifPresent(MirroredClient::end);
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
                mirrored().ifPresent(MirroredClient::release);
            } finally {
                Unmapping.of(List.of(mapping), this::unmapped);
            }
        }
    }

    private void unmapped() {
        try {
            mirrored().ifPresent(MirroredClient::released);
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
