package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.sandbox.Seals;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.ArenaTable;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.SharedObject;
import dev.rackcall.shm.SharedType;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.codec.ObjectCodec;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import dev.rackcall.shm.os.Mapping;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.SharedFile;
import dev.rackcall.shm.os.UnixSocket;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What a connection stands on at the client: the socket that proves the server's life, the memory that both map, the arenas in it, and the
 * Refs that may be followed. Thread-safe.
 *
 * <p>The memory outlives every thread that uses it: {@link #close} only marks the end, and the last user unmaps.
 */
final class ClientLink {
    private static final int ALLOCATOR = 1;
    private static final long FIRST_REQUEST_BYTES = 32 << 10;

    /** The links of this process that have ended but are still mapped, because a thread is about to leave them. */
    private static final Set<ClientLink> ENDED = ConcurrentHashMap.newKeySet();

    private final UnixSocket socket;
    /** Owned from the moment on at which the connection is made; until then its maker closes it. */
    private final SharedFile file;

    private final Mapping mapping;
    private final SharedFile sharedFile;
    private final Handshake.Welcome welcome;
    private final String channel;
    private final Arena requestArena;
    private final MemorySegment replyMemory;
    private final ArenaTable refs;
    private final SwitchableCodec objects = new SwitchableCodec();
    private final AtomicBoolean unmapped = new AtomicBoolean();
    private final ClientReactor reactor = ClientReactor.shared();

    private ShmClientConnection connection;
    private long tag;
    private Mapping sharedMapping;
    /** Null until the first scope is to be sealed. */
    @SuppressWarnings("OptionalUsedAsFieldOrParameterType")
    private volatile Optional<Seals> seals;

    private Arena sharedArena;
    private volatile Status end;
    /** The thread that ended the connection has told everybody, and no longer uses the memory itself. */
    private volatile boolean settled;

    /**
     * Maps the memory of a connection.
     *
     * @throws Handshake.MalformedException if it is not what {@code welcome} says; nothing stays mapped then
     */
    static ClientLink open(
            UnixSocket socket, SharedFile file, SharedFile sharedFile, Handshake.Welcome welcome, String channel)
            throws Handshake.MalformedException {
        // So that looking at the slots cannot fail, whatever kind of memory the server chose.
        file.reserve(0, ControlLayout.slotBytes(welcome.slots()));
        Mapping mapping = file.map();
        try {
            if (!ControlLayout.isInitialised(mapping.memory(), welcome.slots(), welcome.instance())) {
                throw new Handshake.MalformedException("its memory has another layout than its handshake says");
            }
            return new ClientLink(socket, file, mapping, sharedFile, welcome, channel);
        } catch (Handshake.MalformedException | RuntimeException | Error e) {
            mapping.close();
            throw e;
        }
    }

    private ClientLink(
            UnixSocket socket,
            SharedFile file,
            Mapping mapping,
            SharedFile sharedFile,
            Handshake.Welcome welcome,
            String channel) {
        this.socket = socket;
        this.file = file;
        this.sharedFile = sharedFile;
        this.welcome = welcome;
        this.channel = channel;
        this.mapping = mapping;
        this.requestArena = Arena.create(new ArenaSpec(
                welcome.request().id(),
                slice(welcome.request()),
                file,
                welcome.request().offset(),
                TableHome.PRIVATE,
                ALLOCATOR,
                FIRST_REQUEST_BYTES));
        this.replyMemory = slice(welcome.reply());
        this.refs = ArenaTable.create();
        refs.add(requestArena);
        refs.add(Arena.attach(new ArenaSpec(
                welcome.reply().id(), replyMemory, file, welcome.reply().offset(), TableHome.PRIVATE, ALLOCATOR, 0)));
    }

    private MemorySegment slice(Handshake.ArenaPlace place) {
        return mapping.memory().asSlice(place.offset(), place.bytes());
    }

    /** Unmaps everything of a link that nobody has used yet; its files and its socket stay their maker's. */
    void discard() {
        unmapped.set(true);
        mapping.close();
    }

    /** Begins to watch the server's life on behalf of {@code owner}. */
    void start(ShmClientConnection owner) {
        connection = owner;
        tag = reactor.add(this);
    }

    MemorySegment memory() {
        return mapping.memory();
    }

    int slots() {
        return welcome.slots();
    }

    Handshake.Welcome welcome() {
        return welcome;
    }

    Arena requestArena() {
        return requestArena;
    }

    SwitchableCodec objects() {
        return objects;
    }

    ClientReactor reactor() {
        return reactor;
    }

    AsyncCalls async() {
        return connection.async;
    }

    void flushControls() {
        connection.controls.flush();
    }

    int socketFd() {
        return socket.fd();
    }

    void ring() {
        if (!socket.ring()) {
            close(lostStatus());
        }
    }

    /** Tells the server, beside the slots, that nobody waits for the call with that ticket; returns whether that was possible. */
    boolean ringCancelled(long ticket) {
        return socket.ring(ticket);
    }

    void announceSleep(boolean asleep) {
        if (isOpen()) {
            try {
                ControlLayout.reactorAsleep(mapping.memory(), asleep);
            } catch (IllegalStateException e) {
                // Unmapped between the two lines: there is nobody to tell.
                assert !isOpen();
            }
        }
    }

    // ---- arenas and Refs

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

    /** Whether a Ref that the server sent leads into the reply arena. */
    private boolean isReply(long ref) {
        return Ref.arenaId(ref) == welcome.reply().id();
    }

    /** Whether the object lies in this connection's reply arena. */
    boolean isReply(Object sharedObject, long ref) {
        return isReply(ref) && SharedObject.spaceOf(sharedObject) == refs;
    }

    Scope newScope(long firstBytes) {
        requireOpen();
        return requestArena.newScope(firstBytes, refs);
    }

    Scope newSharedScope(long firstBytes) {
        requireOpen();
        return sharedArena().newScope(firstBytes, refs);
    }

    private synchronized Arena sharedArena() {
        if (sharedArena == null) {
            requireOpen();
            try {
                if (sharedMapping == null) {
                    sharedMapping = sharedFile.map();
                }
                sharedArena = Arena.attach(new ArenaSpec(
                        welcome.shared().id(),
                        sharedMapping.memory(),
                        sharedFile,
                        0,
                        TableHome.SHARED,
                        welcome.participant(),
                        0));
            } catch (RefException | OsException e) {
                throw Status.Code.FAILED_PRECONDITION
                        .with("channel %s: its shared arena cannot be used: %s", channel, e.getMessage())
                        .asException(e);
            }
            refs.add(sharedArena);
        }
        return sharedArena;
    }

    long share(Object sharedObject, String method, String argument) {
        if (sharedObject == null) {
            throw Status.Code.INVALID_ARGUMENT
                    .with("%s: argument '%s' is null; shared objects are never null", method, argument)
                    .asException();
        }
        long ref = liveRef(sharedObject, method, argument);
        MemorySegment memory = SharedObject.spaceOf(sharedObject).memory(ref);
        if (!isMapped(memory)) {
            if (isGone(memory)) {
                throw gone(method, argument);
            }
            throw Status.Code.INVALID_ARGUMENT
                    .with(
                            "%s: argument '%s' lives in arena %d, which the server of this channel does not map; build it in"
                                    + " channel.newScope() or copy it there with scope.copy",
                            method, argument, Ref.arenaId(ref))
                    .asException();
        }
        return ref;
    }

    /** Whether the server maps that memory for this connection. By memory, not by arena number: two servers may use one number. */
    private boolean isMapped(MemorySegment memory) {
        return memory.scope().equals(mapping.memory().scope()) || isSharedMemory(memory);
    }

    /** Whether it is the shared arena, mapped here or by another connection of this process to the same channel. */
    private boolean isSharedMemory(MemorySegment memory) {
        if (isSharedHere(memory)) {
            return true;
        }
        ClientLink other = reactor.linkThatShares(memory);
        try {
            return other != null && other.sharedFile.isSameFile(sharedFile);
        } catch (IllegalStateException e) {
            // One of the two has just ended.
            return false;
        }
    }

    /** Whether it is the memory of a connection that has ended. */
    private static boolean isGone(MemorySegment memory) {
        return !memory.scope().isAlive() || ENDED.stream().anyMatch(link -> link.maps(memory));
    }

    private boolean maps(MemorySegment memory) {
        return memory.scope().equals(mapping.memory().scope()) || isSharedHere(memory);
    }

    /** Whoever retries what UNAVAILABLE ends builds it anew. */
    private static RpcException gone(String method, String argument) {
        return Status.Code.UNAVAILABLE
                .with(
                        "%s: argument '%s' is gone with the connection that it was built for; build it anew in a new scope",
                        method, argument)
                .asException();
    }

    synchronized boolean isSharedHere(MemorySegment memory) {
        return sharedMapping != null && sharedMapping.memory().scope().equals(memory.scope());
    }

    /**
     * The arena in which an argument lies that may be isolated.
     *
     * @throws RefException if it lies where the server writes
     */
    Arena argumentArena(long ref) {
        if (Ref.arenaId(ref) == requestArena.id()) {
            return requestArena;
        }
        if (Ref.arenaId(ref) == welcome.shared().id()) {
            return sharedArena();
        }
        throw new RefException(Ref.describe(ref)
                + " lies in a scope of the server's; copy it into a scope of channel.newScope() with scope.copy");
    }

    /** The seals of the request arena, made for the first scope that is to be sealed; empty if this host has none. */
    Optional<Seals> seals() {
        Optional<Seals> present = seals;
        return present != null ? present : makeSeals();
    }

    /** From how many bytes on AUTO seals a scope instead of having it copied. */
    long sealFrom() {
        return connection.spec.sealFrom();
    }

    private synchronized Optional<Seals> makeSeals() {
        if (seals == null) {
            requireOpen();
            seals = SealMemory.open(file, mapping.memory(), welcome.slots())
                    .flatMap(memory -> memory.sender(requestArena, file));
        }
        return seals;
    }

    private static long liveRef(Object sharedObject, String method, String argument) {
        try {
            return SharedObject.liveRefOf(sharedObject);
        } catch (RefException | IllegalArgumentException e) {
            throw Status.Code.INVALID_ARGUMENT
                    .with("%s: argument '%s' cannot be passed: %s", method, argument, e.getMessage())
                    .asException(e);
        } catch (IllegalStateException e) {
            // Unmapped.
            throw gone(method, argument);
        }
    }

    <T> T shared(Class<T> type, long ref, String method) {
        if (Ref.arenaId(ref) == welcome.shared().id()) {
            sharedArena();
        }
        try {
            return SharedType.of(type).attach(refs, ref);
        } catch (RefException e) {
            throw Status.Code.INTERNAL
                    .with("%s: the server returned a Ref that leads nowhere: %s", method, e.getMessage())
                    .asException(e);
        }
    }

    // ---- the end

    boolean isOpen() {
        return end == null;
    }

    /** Whether this side ended the connection. Only once it is not open. */
    boolean isClosedHere() {
        return end.code() == Status.Code.CANCELLED;
    }

    /** Why the connection ended. Only once it is not open. */
    RpcException failure() {
        return end.asException();
    }

    private void requireOpen() {
        if (!isOpen()) {
            throw failure();
        }
    }

    private Status lostStatus() {
        return Status.Code.UNAVAILABLE.with(
                "channel %s: its server is gone; the call may or may not have run. The next call connects anew",
                channel);
    }

    /** The reactor saw the socket readable: rings, or the end. */
    void readable() {
        if (socket.drain() < 0) {
            close(lostStatus());
        } else {
            connection.rung();
        }
    }

    /** Ends the connection: every call under way ends with {@code status}. */
    void close(Status status) {
        synchronized (this) {
            if (end != null) {
                return;
            }
            end = status;
        }
        ENDED.add(this);
        reactor.remove(tag, socket.fd());
        // Before the server can notice: what it answers to calls that it cancels because we are gone must not reach
        // their callers.
        connection.ended();
        socket.close();
        // Closing any shared arena makes every thread pass a handshake: from here on each of them has either marked its
        // slot or sees the end.
        java.lang.foreign.Arena.ofShared().close();
        settled = true;
        memoryReleased();
    }

    /** A slot was released after the end: unmaps the memory once no thread uses it. */
    void memoryReleased() {
        if (settled && connection.isQuiet() && unmapped.compareAndSet(false, true)) {
            closeSeals();
            mapping.close();
            file.close();
            synchronized (this) {
                if (sharedMapping != null) {
                    sharedMapping.close();
                }
            }
            if (sharedFile != null) {
                sharedFile.close();
            }
            ENDED.remove(this);
        }
    }

    private synchronized void closeSeals() {
        if (seals != null) {
            seals.ifPresent(Seals::close);
        }
    }

    /** Encodes objects by the codec of the service that the channel turned out to be used for. */
    static final class SwitchableCodec implements ObjectCodec {
        private volatile ObjectCodec current;

        void use(ObjectCodec codec) {
            current = codec;
        }

        private ObjectCodec codec() {
            ObjectCodec codec = current;
            if (codec == null) {
                throw new IllegalStateException("an object was encoded before the channel made its first stub");
            }
            return codec;
        }

        @Override
        public void write(Object value, PayloadWriter out) {
            codec().write(value, out);
        }

        @Override
        public Object read(PayloadReader in) {
            return codec().read(in);
        }
    }
}
