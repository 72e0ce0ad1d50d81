package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.Bell;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.sandbox.SealException;
import dev.rackcall.sandbox.SealedScopes;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.SharedObject;
import dev.rackcall.shm.os.Mapping;
import dev.rackcall.shm.os.SharedFile;
import java.lang.foreign.MemorySegment;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;
import java.util.function.LongConsumer;

/**
 * What a connection stands on at the server: the bell that proves the client's life, the memory that both map, the arenas in it, and the
 * Refs that may be followed for this client. Owned by one {@link ShmServerConnection}.
 */
final class ServerLink {
    private static final long FIRST_REPLY_BYTES = 4000;

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
    /** Null in shared memory. Set before the connection is used. */
    private ServerMirror mirror;

    /** Null until the first arguments come that are to be fetched. */
    private volatile FetchedArena fetched;

    private final ReceivedSeals seals;
    /** Reply scopes that callers have not released, by the Refs that were returned from them. */
    private final Map<Long, ReplyScope> replies = new HashMap<>();
    /** The same by the tickets of their calls. */
    private final Map<Long, ReplyScope> repliesByTicket = new HashMap<>();

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
    }

    /** The client has memory of its own: what is returned is carried over. */
    void mirroredBy(ServerMirror theMirror) {
        mirror = theMirror;
        // To this side the client's reactor always sleeps, so that answers ring.
        ControlLayout.reactorAsleep(memory(), true);
    }

    /** An answer was published in that slot. */
    void answered(int index) {
        if (mirror != null) {
            mirror.answered(index);
        }
    }

    boolean isMirrored() {
        return mirror != null;
    }

    /** Takes in what has arrived. Only of a mirrored connection. */
    void look() {
        mirror.look();
    }

    /** Before the last look at a connection that will not be polled: from now on the client's next request rings. */
    void listen() {
        if (mirror != null) {
            mirror.listen();
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
        return refs;
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

    /** Tells the client that a call no longer needs what it has sealed. The call has claimed the seal. */
    void markDone(long seal) {
        finish(seal, false);
    }

    /** As {@link #markDone}, of a seal that a request names but its call did not read under, as it failed before. */
    void giveUp(long seal) {
        finish(seal, true);
    }

    private void finish(long seal, boolean claims) {
        try {
            SealedScopes scopes = seals().scopes();
            if (claims) {
                // Or its client could have a seal marked done under which another call is still reading.
                scopes.claim(seal);
            }
            scopes.markDone(seal);
        } catch (SealException e) {
            // It is another call's, or none.
            // Without memory for marks the client takes its seal back at the end of the connection.
            return;
        } catch (IllegalStateException e) {
            // Unmapped: the connection, and its seals with it, ended before the handler did.
            if (memory().scope().isAlive()) {
                throw e;
            }
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
        if (mirror == null) {
            throw new RefException("arguments that are to be fetched came from a client that shares its memory");
        }
        FetchedArena present = fetched;
        return (present != null ? present : makeFetched()).space(refs, deadline);
    }

    private synchronized FetchedArena makeFetched() {
        if (fetched == null) {
            fetched = FetchedArena.open(mirror.carrier, welcome.request());
        }
        return fetched;
    }

    /** The only arena in which scopes can be sealed: others than its client could write in the shared one. */
    Arena requestArena() {
        return requestArena;
    }

    long share(Object sharedObject, String method) {
        long ref = SharedObject.refOf(sharedObject);
        // By memory, not by arena number: a server that is a client of others meets their numbers, too.
        MemorySegment.Scope mapped = mappingOf(sharedObject, ref, method);
        FetchedArena fetching = fetched;
        boolean isOwn = mapped.equals(mapping.memory().scope()) || (fetching != null && fetching.isIn(mapped));
        if (isMirrored()) {
            carryOver(ref, isOwn, method);
        } else if (!isOwn && !mapped.equals(sharedScope())) {
            throw Status.Code.INTERNAL
                    .with(
                            "%s: the handler returned an object in arena %d, which its caller does not map; allocate results in"
                                    + " RpcContext.replyScope() or in the channel's shared arena",
                            method, Ref.arenaId(ref))
                    .asException();
        }
        return ref;
    }

    /** What lies in the request arena came from the client, which has it. */
    private void carryOver(long ref, boolean isOwn, String method) {
        if (!isOwn) {
            throw Status.Code.FAILED_PRECONDITION
                    .with(
                            "%s: the handler returned an object in arena %d, but its caller shares no memory with this process; allocate"
                                    + " results in RpcContext.replyScope()",
                            method, Ref.arenaId(ref))
                    .asException();
        }
        if (Ref.arenaId(ref) == replyArena.id()) {
            mirror.carryScope(replyArena, welcome.reply().offset(), ref, Long.MAX_VALUE);
        }
    }

    private MemorySegment.Scope sharedScope() {
        return shared.arena().memory().scope();
    }

    private static MemorySegment.Scope mappingOf(Object sharedObject, long ref, String method) {
        try {
            return SharedObject.spaceOf(sharedObject).memory(ref).scope();
        } catch (RefException e) {
            throw Status.Code.INTERNAL
                    .with("%s: the handler returned an object that is gone: %s", method, e.getMessage())
                    .asException(e);
        }
    }

    Scope adopt(Object argument, String method) {
        long ref = SharedObject.refOf(argument);
        if (!SharedObject.spaceOf(argument).memory(ref).scope().equals(sharedScope())) {
            throw Status.Code.FAILED_PRECONDITION
                    .with(
                            "%s: the argument lies in its caller's own arena, which ends with the connection; to hand it over, build it in"
                                    + " RpcChannel.newSharedScope()",
                            method)
                    .asException();
        }
        try {
            return shared.arena().adopt(ref, welcome.participant());
        } catch (RefException e) {
            throw Status.Code.FAILED_PRECONDITION
                    .with("%s: the argument cannot be taken over: %s", method, e.getMessage())
                    .asException(e);
        }
    }

    // ---- reply scopes; any thread

    ReplyScope newReplyScope() {
        return new ReplyScope(replyArena.newScope(FIRST_REPLY_BYTES, refs));
    }

    /** The caller of {@code ticket} owns the scope now. A scope from which nothing was returned, or that nobody wants, is closed. */
    synchronized void handOver(ReplyScope reply, long ticket, BooleanSupplier unwanted) {
        // Whoever cancels says so before he looks here for what he does not want.
        if (reply.roots().isEmpty() || unwanted.getAsBoolean()) {
            reply.discard();
            return;
        }
        reply.answered(ticket);
        try {
            repliesByTicket.put(ticket, reply);
            for (long root : reply.roots()) {
                replies.put(root, reply);
            }
        } catch (RuntimeException | Error e) {
            // No memory: the caller is told so, and owns nothing.
            forget(reply);
            throw e;
        }
    }

    /** The client gives back the object at {@code ref}; unknown ones are ignored. */
    synchronized void releaseReply(long ref) {
        ReplyScope gone = replies.get(ref);
        if (gone != null) {
            forget(gone);
        }
    }

    /** The client says that it never saw the answer to {@code ticket}. */
    synchronized void discardReply(long ticket) {
        ReplyScope gone = repliesByTicket.get(ticket);
        if (gone != null) {
            forget(gone);
        }
    }

    private void forget(ReplyScope reply) {
        reply.roots().forEach(replies::remove);
        repliesByTicket.remove(reply.ticket());
        reply.discard();
    }

    // ---- the end

    /** Closes the bell: the client sees the connection end. */
    void hangUp() {
        count.hangsUp();
        bell.close();
    }

    /** Unmaps the memory; no call is under way and none will be. */
    void release() {
        if (released.compareAndSet(false, true)) {
            try {
                wall.close();
                if (fetched != null) {
                    fetched.close();
                }
                mapping.close();
                // After it: a handler whose answer is late may mark a seal done, and looks for the memory's end only.
                seals.close();
                file.close();
                shared.leave(welcome.participant());
            } finally {
                count.isReleased();
                onRelease.run();
            }
        }
    }
}
