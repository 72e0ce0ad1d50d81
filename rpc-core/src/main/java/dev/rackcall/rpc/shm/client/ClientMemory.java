package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.protocol.SealMemory;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.sandbox.SealException;
import dev.rackcall.sandbox.SealSession;
import dev.rackcall.sandbox.Seals;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.PageFaults;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.file.Unmapping;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedType;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * A connection's memory at its client: its mappings, its arenas, and how objects from the server are found in them.
 * {@link PassedObjects} decides which objects may be passed. {@link ClientEnd} unmaps it after the last use.
 * Thread-safe.
 */
public final class ClientMemory {
    private static final int ALLOCATOR = 1;
    private static final long FIRST_REQUEST_BYTES = 32 << 10;

    /** Owned once the connection is made; before that the caller closes it. */
    private final SharedFile file;

    private final Mapping mapping;
    private final SharedFile sharedFile;
    private final Handshake.ServerHello serverHello;
    private final String channel;
    private final Optional<URI> address;
    private final int keepSealed;
    private final long largestCopy;
    private final AutoSeals autoSeals;
    private final boolean ownSealsAreRefused;
    private volatile boolean sealsAreHeld;
    private final Arena requestArena;
    private final MemorySegment replyMemory;
    private final ArenaTable refs = ArenaTable.create();
    private final OpenScopes openScopes = new OpenScopes();

    /** Null until the shared arena is first used. */
    private Mapping sharedMapping;

    private Arena sharedArena;
    /** Null until the first scope is sealed. */
    @SuppressWarnings("OptionalUsedAsFieldOrParameterType")
    private volatile Optional<Seals> seals;
    /** Null in shared memory. Set before the connection is used. */
    private MirroredScopes held;

    /** Why the connection ended. Once set, nothing more is mapped; existing mappings stay until {@link #close}. */
    private volatile Status end;

    /**
     * Maps the memory of a connection.
     *
     * @throws Handshake.MalformedException if it differs from {@code serverHello}; nothing stays mapped then
     */
    public static ClientMemory open(
            SharedFile file, SharedFile sharedFile, Handshake.ServerHello serverHello, ClientSpec spec)
            throws Handshake.MalformedException {
        // Reserved first, so that no access to the slots can fail, whatever kind of memory the server chose.
        file.reserve(0, ControlLayout.slotBytes(serverHello.slots()));
        Mapping mapping = file.map().ownedBy("channel " + spec.channel());
        try {
            if (!ControlLayout.isInitialised(mapping.memory(), serverHello.slots(), serverHello.instance())) {
                throw new Handshake.MalformedException("its memory has another layout than its handshake says");
            }
            ControlLayout.clientIsHere(mapping.memory());
            return new ClientMemory(file, mapping, sharedFile, serverHello, spec);
        } catch (Handshake.MalformedException | RuntimeException | Error e) {
            mapping.close();
            throw e;
        }
    }

    private ClientMemory(
            SharedFile file,
            Mapping mapping,
            SharedFile sharedFile,
            Handshake.ServerHello serverHello,
            ClientSpec spec) {
        this.file = file;
        this.mapping = mapping;
        this.sharedFile = sharedFile;
        this.serverHello = serverHello;
        this.channel = spec.channel();
        this.address = spec.address();
        this.keepSealed = spec.sealing().kept();
        this.largestCopy = ControlLayout.largestSnapshot(mapping.memory());
        this.autoSeals = new AutoSeals(sealFrom(spec), keepSealed > 0, PageFaults::ofThisThread);
        this.ownSealsAreRefused = ControlLayout.believesHeldSealsOnly(mapping.memory());
        this.requestArena = Arena.create(
                new ArenaSpec(
                        serverHello.request().id(),
                        slice(serverHello.request()),
                        file,
                        serverHello.request().offset(),
                        TableHome.PRIVATE,
                        ALLOCATOR,
                        FIRST_REQUEST_BYTES,
                        "close scopes that are no longer needed, or open the channel with a larger arenaQuota (its server's is the most)"));
        this.replyMemory = slice(serverHello.reply());
        refs.add(requestArena);
        refs.add(Arena.attach(new ArenaSpec(
                serverHello.reply().id(),
                replyMemory,
                file,
                serverHello.reply().offset(),
                TableHome.PRIVATE,
                ALLOCATOR,
                0)));
        PassedObjects.register(this);
    }

    /** The channel's threshold, lowered to what the server refuses to copy and to the size of a huge page, if any. */
    private long sealFrom(ClientSpec spec) {
        long refused = largestCopy == Long.MAX_VALUE ? largestCopy : largestCopy + 1;
        long hugePage = file.pageBytes() > ControlLayout.PAGE ? file.pageBytes() : Long.MAX_VALUE;
        return Math.min(spec.sealing().from(), Math.min(refused, hugePage));
    }

    /** Bytes of the largest scope that the server copies. */
    long largestCopy() {
        return largestCopy;
    }

    private MemorySegment slice(Handshake.ArenaPlace place) {
        return mapping.memory().asSlice(place.offset(), place.bytes());
    }

    /**
     * Sets the scopes of a connection whose server has memory of its own: shared objects are carried over when passed.
     */
    public void mirroredBy(MirroredScopes scopes) {
        held = scopes;
    }

    boolean isMirrored() {
        return held != null;
    }

    /** Control region, request arena and reply arena. */
    MemorySegment memory() {
        return mapping.memory();
    }

    public Arena requestArena() {
        return requestArena;
    }

    /** Resolves Refs into the connection's own arenas. */
    public RefSpace refs() {
        return refs;
    }

    /** Sets what closing a result does. */
    void releaseBy(Predicate<Object> action) {
        refs.releaseBy(action);
    }

    int slots() {
        return serverHello.slots();
    }

    MemorySegment replyMemory() {
        return replyMemory;
    }

    /** Whether a payload that the server claims lies wholly in the reply arena. */
    boolean isReplyPayload(long ref, long length) {
        return isReply(ref)
                && length >= 0
                && length <= replyMemory.byteSize()
                && Ref.offset(ref) <= replyMemory.byteSize() - length;
    }

    /** Whether a Ref from the server points into the reply arena. */
    boolean isReply(long ref) {
        return Ref.arenaId(ref) == serverHello.reply().id();
    }

    /** Whether the object lies in this connection's reply arena. */
    boolean isReply(Object sharedObject, long ref) {
        return isReply(ref)
                && (isMirrored() ? held.isSpaceOf(sharedObject) : SharedObject.spaceOf(sharedObject) == refs);
    }

    Scope newScope(long firstBytes) {
        requireNotEnded();
        return openScopes.counted(requestArena.newScope(firstBytes, isMirrored() ? held.standing() : refs));
    }

    Scope newSharedScope(long firstBytes) {
        requireNotEnded();
        return isMirrored()
                ? held.open(firstBytes)
                : openScopes.counted(sharedArena().newScope(firstBytes, refs));
    }

    boolean hasOpenScopes() {
        return openScopes.areAny() || (isMirrored() && held.hasOpen());
    }

    private synchronized Arena sharedArena() {
        if (sharedArena == null) {
            requireNotEnded();
            try {
                if (sharedMapping == null) {
                    sharedMapping = sharedFile.map().ownedBy("channel " + channel);
                }
                sharedArena = Arena.attach(new ArenaSpec(
                        serverHello.shared().id(),
                        sharedMapping.memory(),
                        sharedFile,
                        0,
                        TableHome.SHARED,
                        serverHello.participant(),
                        0,
                        Handshake.SHARED_ARENA_FULL));
            } catch (RefException | OsException e) {
                throw Status.Code.FAILED_PRECONDITION
                        .with(
                                "channel %s: its shared arena cannot be used: %s; if another client has overwritten its header, the"
                                        + " server mends it within a second: try again",
                                channel, e.getMessage())
                        .asException(e);
            }
            refs.add(sharedArena);
        }
        return sharedArena;
    }

    /** Whether {@code memory} belongs to this connection's mapping of the shared arena. */
    synchronized boolean isSharedHere(MemorySegment memory) {
        return sharedMapping != null && sharedMapping.memory().scope().equals(memory.scope());
    }

    /** Whether both connections are to the same channel, which has one shared arena. */
    boolean hasSharedArenaOf(ClientMemory other) {
        try {
            return sharedFile.isSameFile(other.sharedFile);
        } catch (IllegalStateException e) {
            // One of the two was just closed.
            return false;
        }
    }

    /** Whether {@code memory} is this connection's: its own, shared or mirrored memory. */
    boolean maps(MemorySegment memory) {
        return memory.scope().equals(mapping.memory().scope())
                || isSharedHere(memory)
                || (isMirrored() && held.isIn(memory.scope()));
    }

    /**
     * Whether the server can also resolve that object over {@code other}, because its scope is open to all clients of
     * the channel.
     */
    boolean isOpenFor(ClientMemory other, long ref, MemorySegment memory) {
        boolean isOneHome = isMirrored()
                && other.isMirrored()
                && address.equals(other.address)
                && channel.equals(other.channel)
                && serverHello.shared().id() == other.serverHello.shared().id();
        return isOneHome && maps(memory) && (held.isIn(memory.scope()) || held.isOpen(ref));
    }

    /** Makes sure that the server has an object of an open scope, before it is passed over another connection. */
    void publish(long ref) {
        if (isMirrored() && Ref.arenaId(ref) == requestArena.id()) {
            held.publish(ref);
        }
    }

    /**
     * Carries an object of the request arena to the server before it is passed; objects of the reply arena are already
     * at the server.
     *
     * @param mayStay whether the server may fetch what it needs of a large scope
     * @return whether the server has to fetch
     * @throws dev.rackcall.rpc.RpcException INVALID_ARGUMENT if the object lies in no whole scope
     */
    boolean carryOver(long ref, boolean mayStay, String method, String argument) {
        if (held == null || Ref.arenaId(ref) != requestArena.id()) {
            return false;
        }
        try {
            return !held.carryOver(ref, mayStay);
        } catch (RefException e) {
            throw PassedObjects.cannotBePassed(method, argument, e);
        }
    }

    /**
     * The arena of an argument that may be isolated.
     *
     * @throws RefException if the server can write there
     */
    Arena argumentArena(long ref) {
        if (Ref.arenaId(ref) == requestArena.id()) {
            return requestArena;
        }
        if (Ref.arenaId(ref) == serverHello.shared().id() && !isMirrored()) {
            return sharedArena();
        }
        throw new RefException(
                Ref.describe(ref)
                        + " lies in a scope of the server's; copy it into a scope of channel.newScope() with DeepCopy.DEFAULT.copy");
    }

    /** The seals of the request arena, made for the first sealed scope; empty if this host cannot seal. */
    Optional<Seals> seals() {
        Optional<Seals> present = seals;
        return present != null ? present : makeSeals();
    }

    /** Hands the seals of the request arena over to a holder, once the server has joined by the invitation. */
    SealSession openSealSession(Path holder, SealSession.Invitation invitation) {
        if (!file.mayShutOutWriters()) {
            throw new SealException(
                    "its server does not trust that holder, or gives connections huge pages; see SandboxPolicy.withEnforcedSeals");
        }
        return SealSession.open(holder, requestArena, file, invitation);
    }

    /** Called before the first scope is sealed. */
    synchronized void enforcedBy(Seals held) {
        seals = Optional.of(held);
        sealsAreHeld = true;
    }

    /** Called before the first scope is sealed: the server trusts only a holder, and this side has none. */
    synchronized void withoutSeals() {
        seals = Optional.empty();
    }

    private synchronized Optional<Seals> makeSeals() {
        if (seals == null) {
            requireNotEnded();
            seals = SealMemory.open(file, mapping.memory(), serverHello.slots())
                    .flatMap(memory -> memory.sender(requestArena, file, Math.max(1, keepSealed)));
        }
        return seals;
    }

    /**
     * Whether a scope can be sealed: it lies in the request arena, on pages of its own, since pages are sealed as a
     * whole.
     */
    boolean canSeal(Scope scope) {
        return scope.arena() == requestArena && Ref.offset(scope.firstRun()) % file.pageBytes() == 0;
    }

    /** Whether scopes stay sealed after their calls until they are used. */
    boolean keepsSealed() {
        return keepSealed > 0;
    }

    /** Whether AUTO may seal: the server would not refuse such a call. */
    boolean mayChooseSeals() {
        return !ownSealsAreRefused || sealsAreHeld;
    }

    AutoSeals autoSeals() {
        return autoSeals;
    }

    <T> T shared(Class<T> type, long ref, String method) {
        if (Ref.arenaId(ref) == serverHello.shared().id() && !isMirrored()) {
            sharedArena();
        }
        try {
            return SharedType.of(type).attach(isMirrored() ? held.view() : refs, ref);
        } catch (RefException e) {
            throw Status.Code.INTERNAL
                    .with("%s: the server returned a Ref that leads nowhere: %s", method, e.getMessage())
                    .asException(e);
        }
    }

    // ---- the end

    private void requireNotEnded() {
        if (end != null) {
            throw end.asException();
        }
    }

    /** The connection has ended: no scope is opened and nothing more is mapped. Called once, while all is mapped. */
    void end(Status why) {
        end = why;
        if (why.code() == Status.Code.CANCELLED) {
            advise(
                    "this side closed the connection, because the channel was closed or had left that server; copy what has to"
                            + " last before that");
        } else if (ControlLayout.state(mapping.memory()) != ControlLayout.STATE_OPEN) {
            advise(
                    "its server shut down or ended the connection; copy what has to last, and release results and close scopes"
                            + " within the bound of the server's shutdown");
        }
    }

    /** For messages about objects that are held longer. No shared arena is mapped once the end is set. */
    private synchronized void advise(String advice) {
        mapping.advise(advice);
        if (sharedMapping != null) {
            sharedMapping.advise(advice);
        }
    }

    boolean hasEnded() {
        return end != null;
    }

    /** Unmaps memory that was never used; the caller keeps the files. */
    void discard() {
        PassedObjects.forget(this);
        mapping.close();
    }

    /**
     * Unmaps everything and closes the files. No call uses the memory any more; parts that users have handed to the
     * kernel stay mapped until the kernel is done.
     *
     * @param afterwards run when nothing is mapped any more and the files are still open, possibly later and on another
     *     thread
     */
    synchronized void close(Runnable afterwards) {
        List<Mapping> mapped = sharedMapping == null ? List.of(mapping) : List.of(mapping, sharedMapping);
        try {
            if (seals != null) {
                seals.ifPresent(Seals::close);
            }
        } finally {
            if (held != null) {
                held.close();
            }
            Unmapping.of(mapped, () -> unmapped(afterwards));
        }
    }

    private void unmapped(Runnable afterwards) {
        PassedObjects.forget(this);
        try {
            // Before the files are closed: this closes the note that leads observers to the file's descriptor, and a
            // closed descriptor's number may belong to another file at once.
            afterwards.run();
        } finally {
            file.close();
            if (sharedFile != null) {
                sharedFile.close();
            }
        }
    }
}
