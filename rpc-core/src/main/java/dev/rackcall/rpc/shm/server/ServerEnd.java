package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.Route;
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
import dev.rackcall.shm.os.socket.EventPoll;
import java.lang.foreign.MemorySegment;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongConsumer;

/**
 * The server's half of a connection: the bell that proves the client's life, the memory and arenas that both sides map,
 * and the Refs that may be followed for this client. Owned by one {@link ShmServerConnection}.
 */
public final class ServerEnd {
    private final Bell bell;
    private final ServerMemory memory;
    private final ServiceBinding service;
    private final SharedPool shared;
    private final Handshake.ServerHello serverHello;
    private final Peer peer;
    private final Route.Kind transport;
    /** Cached for the call path. */
    private final Arena replyArena;

    private final Arena requestArena;
    private final MemorySegment requestMemory;
    /** All memory that both sides map, read-only. */
    private final ArenaTable refs;

    private final ConnectionCount count;
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
            ServerMemory memory,
            ServiceBinding service,
            Handshake.ServerHello serverHello,
            Peer peer,
            Route.Kind transport,
            ConnectionCount count) {
        this.bell = bell;
        this.memory = memory;
        this.service = service;
        this.shared = service.shared();
        this.serverHello = serverHello;
        this.peer = peer;
        this.transport = transport;
        this.replyArena = memory.replies();
        this.requestArena = memory.requests();
        this.requestMemory = requestArena.memory();
        this.seals = new ReceivedSeals(memory.file(), memory.all(), serverHello, requestArena);
        this.count = count;
        this.refs = ArenaTable.createReadOnly();
        refs.add(requestArena);
        refs.add(replyArena);
        refs.add(shared.arena());
        this.replies = new ReplyScopes(replyArena, new ReplyScopes.OwnSpace(replyArena, refs));
        this.objects = new ReturnedObjects(this, serverHello, shared.arena());
    }

    /** The client has memory of its own: returned objects are carried over. */
    public void mirroredBy(MirroredClient client) {
        mirrored = client;
        replies = new ReplyScopes(replyArena, new ReplyScopes.OwnSpace(replyArena, client.refs()));
        // Marks the client's reactor as always asleep, so that answers are pushed.
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

    /** Present if the client has memory of its own. */
    Optional<MirroredClient> mirrored() {
        return Optional.ofNullable(mirrored);
    }

    /** A call passes a shared object: what was pushed for it may be read by other clients. */
    void hasPassed() {
        if (mirrored != null) {
            mirrored.hasPassed();
        }
    }

    /** Takes in what has arrived. Only of a mirrored connection. */
    void look() {
        mirrored.look();
    }

    /**
     * Makes the client's next request ring. Called before the last check of a connection that will no longer be polled.
     */
    void listen() {
        if (mirrored != null) {
            mirrored.listen();
        }
    }

    MemorySegment memory() {
        return memory.all();
    }

    int slots() {
        return serverHello.slots();
    }

    /** The sandbox of this client's handlers. */
    HandlerWalls.Wall wall() {
        return memory.wall();
    }

    ServerSpec spec() {
        return service.spec();
    }

    Peer peer() {
        return peer;
    }

    /** How the client's calls arrive. */
    Route.Kind transport() {
        return transport;
    }

    /** As {@link Bell#watch}. */
    boolean watch(EventPoll poll, long tag) {
        return bell.watch(poll, tag);
    }

    /** As {@link Bell#unwatch}. */
    void unwatch(EventPoll poll) {
        bell.unwatch(poll);
    }

    /** Reads the client's rings; negative once the client is gone. Numbers are the tickets of calls to cancel. */
    int drainRings(LongConsumer cancelled) {
        return bell.drainToRing(cancelled);
    }

    /** Wakes a client that sleeps. */
    void ring() {
        if (isTold()) {
            bell.ring();
        }
    }

    /** Carries published responses over to a client that has memory of its own. */
    void push() {
        if (isTold()) {
            mirrored.push();
        }
    }

    /** Whether the client has been sent its hello; if not, {@link #told} will ring. */
    private boolean isTold() {
        if (!told) {
            rungEarly = true;
            // The volatile store above precedes this check. The thread that tells the client sets `told` before it
            // checks `rungEarly`.
            return told;
        }
        return true;
    }

    /** The client has been sent its hello; an earlier ring would be mistaken for the hello. */
    public void told() {
        told = true;
        if (rungEarly) {
            bell.ring();
        }
    }

    public Handshake.ServerHello serverHello() {
        return serverHello;
    }

    public Arena replyArena() {
        return replyArena;
    }

    MemorySegment requestMemory() {
        return requestMemory;
    }

    /** Whether a payload that a client claims lies wholly in its own request arena. */
    boolean isRequestPayload(long ref, long length) {
        return Ref.arenaId(ref) == serverHello.request().id()
                && length >= 0
                && length <= requestMemory.byteSize()
                && Ref.offset(ref) <= requestMemory.byteSize() - length;
    }

    /** Resolves the Refs of trusted arguments, into all memory that this client maps. */
    public RefSpace refs() {
        return mirrored != null ? mirrored.refs() : refs;
    }

    /**
     * The arena of a client's isolated arguments: its own, or the shared one.
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
        throw new RefException(Ref.describe(ref) + " is not a scope of its caller's");
    }

    /** The seals of the client's request arena. */
    ReceivedSeals seals() {
        if (isMirrored()) {
            throw new SealException("a seal protects the client's memory, and this is a mirror of it");
        }
        return seals;
    }

    /** Called for a seal that a request names, but under which its call did not read. */
    void giveUp(long seal) {
        if (!isMirrored()) {
            seals.giveUp(seal);
        }
    }

    /**
     * Resolves the Refs of arguments that have stayed with the client.
     *
     * @param deadline nanoTime until which the caller waits; 0 if it set none
     * @throws RefException if this client shares its memory, so that there is nothing to fetch
     * @throws dev.rackcall.rpc.RpcException RESOURCE_EXHAUSTED if there is no memory for fetched pages
     */
    RefSpace fetched(long deadline) {
        if (mirrored == null) {
            throw new RefException("arguments that are to be fetched came from a client that shares its memory");
        }
        return mirrored.fetched(deadline);
    }

    /** The only arena whose scopes can be sealed: the shared one is writable by other clients. */
    public Arena requestArena() {
        return requestArena;
    }

    /** The scopes of the reply arena that callers own. */
    ReplyScopes replies() {
        return replies;
    }

    /** Decides which objects handlers may return and adopt. */
    ReturnedObjects objects() {
        return objects;
    }

    /** Whether memory is this connection's own: mapped by both sides, or fetched from the client. */
    boolean owns(MemorySegment.Scope mapped) {
        return mapped.equals(memory.all().scope()) || (mirrored != null && mirrored.isFetched(mapped));
    }

    /** Whether a Ref names one of this connection's own arenas. */
    boolean isOwn(long ref) {
        return Ref.arenaId(ref) == serverHello.request().id()
                || Ref.arenaId(ref) == serverHello.reply().id();
    }

    // ---- the end

    /** Closes the bell: the client sees the connection end. */
    void hangUp() {
        count.hangsUp();
        mirrored().ifPresent(MirroredClient::end);
        bell.close();
    }

    /** The server's count. */
    ConnectionCount count() {
        return count;
    }

    /** Unmaps the memory, once the kernel uses no part of it on behalf of users. No call is in flight. */
    void release() {
        if (released.compareAndSet(false, true)) {
            try {
                memory.wall().close();
                mirrored().ifPresent(MirroredClient::release);
            } finally {
                Unmapping.of(List.of(memory.mapping()), this::unmapped);
            }
        }
    }

    private void unmapped() {
        try {
            mirrored().ifPresent(MirroredClient::released);
            // After unmapping: a late handler may still mark a seal done, and checks only whether the memory is mapped.
            seals.close();
        } finally {
            try {
                // Before the file is closed: this closes the note that leads observers to the file's descriptor, and
                // a closed descriptor's number may belong to another file at once.
                left();
            } finally {
                memory.file().close();
            }
        }
    }

    /** Runs even if an earlier step failed: the client's number and its part of the shared arena must be reclaimed. */
    private void left() {
        try {
            shared.leave(serverHello.participant());
        } finally {
            count.isReleased();
            memory.onRelease().run();
        }
    }

    /**
     * The memory of a connection at its server.
     *
     * @param file closed after {@code onRelease}
     * @param wall the sandbox of the client's handlers
     * @param onRelease called when nothing is mapped any more
     */
    record ServerMemory(
            SharedFile file,
            Mapping mapping,
            HandlerWalls.Wall wall,
            Arena requests,
            Arena replies,
            Runnable onRelease) {
        /** Control region, request arena, reply arena. */
        MemorySegment all() {
            return mapping.memory();
        }
    }
}
