package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.Bell;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.protocol.MirroringBell;
import dev.rackcall.shm.codec.ObjectCodec;
import dev.rackcall.shm.codec.PayloadReader;
import dev.rackcall.shm.codec.PayloadWriter;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.lang.invoke.VarHandle;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * What a connection stands on at the client: the bell that proves the server's life, the memory that both map, the arenas in it, and the
 * Refs that may be followed. Thread-safe.
 *
 * <p>The memory outlives every thread that uses it: {@link #close} only marks the end, and the last user unmaps.
 */
public final class ClientEnd {
    /** The connection that stands on this end. */
    interface Owner extends ClientReactor.Watched {
        /** The server rang: it has answers that no thread spins for, or it drains. */
        void rung();

        /** The connection has ended, for a reason that this end now knows. */
        void ended();

        /** Whether no call uses the connection's memory any more. */
        boolean isQuiet();
    }

    private final Bell bell;
    private final ClientMemory arenas;
    private final Handshake.Welcome welcome;
    private final String channel;
    private final boolean isRungAlways;
    private final Runnable onUnmapped;
    private final SwitchableCodec objects = new SwitchableCodec();
    private final AtomicBoolean unmapped = new AtomicBoolean();
    private final ClientReactor reactor = ClientReactor.shared();

    /** Null in shared memory. */
    private final MirroringBell mirror;

    private Owner owner;
    private long tag;
    private volatile Status end;
    /** The thread that ended the connection has told everybody, and no longer uses the memory itself. */
    private volatile boolean settled;

    public ClientEnd(Bell bell, ClientMemory arenas, Handshake.Welcome welcome, String channel) {
        this(bell, arenas, welcome, channel, false, () -> {});
    }

    /**
     * A link whose server cannot wake this process's threads.
     *
     * @param isRungAlways whether the server is to ring after all its answers, so that this side wakes who sleeps
     * @param onUnmapped called when this side does not use the memory any more
     */
    public ClientEnd(
            Bell bell,
            ClientMemory arenas,
            Handshake.Welcome welcome,
            String channel,
            boolean isRungAlways,
            Runnable onUnmapped) {
        this.isRungAlways = isRungAlways;
        this.onUnmapped = onUnmapped;
        this.bell = bell;
        this.mirror = bell instanceof MirroringBell mirrored ? mirrored : null;
        this.arenas = arenas;
        this.welcome = welcome;
        this.channel = channel;
    }

    /** Unmaps everything of a link that nobody has used yet; its files and its bell stay their maker's. */
    public void discard() {
        unmapped.set(true);
        arenas.discard();
        onUnmapped.run();
    }

    /** Begins to watch the server's life on behalf of {@code connection}. */
    public void start(Owner connection) {
        owner = connection;
        if (isRungAlways) {
            // Never taken back: to the server the reactor always sleeps.
            ControlLayout.reactorAsleep(arenas.memory(), true);
        }
        tag = reactor.add(connection);
    }

    public ClientMemory arenas() {
        return arenas;
    }

    int slots() {
        return welcome.slots();
    }

    public Handshake.Welcome welcome() {
        return welcome;
    }

    SwitchableCodec objects() {
        return objects;
    }

    ClientReactor reactor() {
        return reactor;
    }

    int bellFd() {
        return bell.fd();
    }

    /** Wakes a server that does not poll this connection. */
    void ring() {
        if (!bell.ring()) {
            close(lostStatus());
        }
    }

    /** Carries what was published to a server that has memory of its own. */
    void push() {
        if (!mirror.push()) {
            close(lostStatus());
        }
    }

    /** Tells the server, beside the slots, that nobody waits for the call with that ticket; returns whether that was possible. */
    boolean ringCancelled(long ticket) {
        return bell.tell(ticket);
    }

    /** Whether whoever sleeps on a slot of this side is to be woken by this side when the server rings. */
    boolean isRungAlways() {
        return isRungAlways;
    }

    /** Whether the server's memory is another one, so that whoever spins has to look for what arrives. */
    boolean isMirrored() {
        return mirror != null;
    }

    /** For threads that spin, and look meanwhile where the answer does not come by itself. */
    WaitStrategy looking(WaitStrategy waiting) {
        return mirror == null ? waiting : mirror.looking(waiting);
    }

    /** By a thread that spins: takes in what has arrived, where that does not come by itself. */
    void look() {
        if (mirror != null) {
            mirror.look();
        }
    }

    /** Before the last look at the memory of a thread of this side that will sleep: from now on the server's next answer wakes it. */
    void listen() {
        if (mirror != null) {
            mirror.listen();
        }
    }

    void announceSleep(boolean asleep) {
        if (asleep) {
            listen();
        }
        if (isOpen() && !isRungAlways) {
            try {
                ControlLayout.reactorAsleep(arenas.memory(), asleep);
            } catch (IllegalStateException e) {
                // Unmapped between the two lines: there is nobody to tell.
                assert !isOpen();
            }
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

    /** What its carrier knows of the end. Only once it is not open. */
    Optional<Status> endCause() {
        return mirror == null ? Optional.empty() : mirror.endCause();
    }

    private Status lostStatus() {
        Optional<String> cause = endCause().map(Status::description);
        return Status.Code.UNAVAILABLE.with(
                "channel %s: %s; the call may or may not have run. The next call connects anew",
                channel, cause.map(why -> "its connection has ended: " + why).orElse("its server is gone"));
    }

    /** The reactor saw the bell readable: rings, or the end. */
    void readable() {
        // A server has no numbers to tell.
        if (bell.drain(number -> {}) < 0) {
            close(lostStatus());
        } else {
            owner.rung();
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
        try {
            arenas.end(status);
            reactor.remove(tag, bell.fd());
            // Before the server can notice: what it answers to calls that it cancels because we are gone must not reach
            // their callers.
            owner.ended();
        } finally {
            hangUp();
        }
    }

    private void hangUp() {
        bell.close();
        // Closing any shared arena makes every thread pass a handshake: from here on each of them has either marked its
        // slot or sees the end.
        java.lang.foreign.Arena.ofShared().close();
        settled = true;
        memoryReleased();
    }

    /** A slot was released after the end: unmaps the memory once no thread uses it. */
    void memoryReleased() {
        // Between the release of the caller's own slot and its look at the others and at `settled`: of two who leave at
        // once, or of one and the thread that ends the connection, at least one sees that the other has left.
        VarHandle.fullFence();
        if (settled && owner.isQuiet() && unmapped.compareAndSet(false, true)) {
            arenas.close(onUnmapped);
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
