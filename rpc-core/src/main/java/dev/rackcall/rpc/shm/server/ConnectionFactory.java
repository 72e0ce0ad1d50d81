package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.Bell;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.protocol.SocketBell;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.function.BooleanSupplier;
import java.util.function.IntFunction;

/** Makes the memory of new connections to one channel: one sealed memfd each, cut into control region, request arena and reply arena. */
public final class ConnectionFactory implements AutoCloseable {
    private static final long FIRST_REPLY_BYTES = 16 << 10;
    private static final int ALLOCATOR = 1;
    private static final SecureRandom INSTANCES = new SecureRandom();

    private final ServerSpec spec;
    private final long arenaQuota;
    private final ServiceBinding binding;
    private final SharedPool shared;
    private final Handlers handlers;
    private final HandlerWalls walls;
    private final ArenaIds ids = ArenaIds.shared();
    private final int sharedId;
    private final Scratch scratch;
    private final int scratchId;

    /** For clients of this host, and of those that share no memory with it. */
    public ConnectionFactory(ServerSpec spec, ServerSpec.Service<?> service, Handlers handlers) {
        this(
                spec,
                service,
                handlers,
                spec.arenaQuota(),
                id -> new SharedPool(service.definition().channel(), id, spec.sharedQuota()));
    }

    /**
     * For clients whose memory comes from elsewhere: {@link #join} and {@link #connect}.
     *
     * @param arenaQuota the most that a connection's arenas may have, in bytes
     * @param makesShared makes the arena of that number that all clients share
     */
    public ConnectionFactory(
            ServerSpec spec,
            ServerSpec.Service<?> service,
            Handlers handlers,
            long arenaQuota,
            IntFunction<SharedPool> makesShared) {
        this(spec, service, handlers, arenaQuota, makesShared, HandlerWalls.of(spec));
    }

    ConnectionFactory(
            ServerSpec spec,
            ServerSpec.Service<?> service,
            Handlers handlers,
            long arenaQuota,
            IntFunction<SharedPool> makesShared,
            HandlerWalls walls) {
        this.arenaQuota = arenaQuota;
        this.spec = spec;
        this.handlers = handlers;
        this.walls = walls;
        this.sharedId = ids.take();
        this.scratchId = ids.take();
        this.scratch = new Scratch(service.definition().channel(), scratchId, spec.sharedQuota());
        SharedPool pool = null;
        try {
            pool = makesShared.apply(sharedId);
            this.binding = new ServiceBinding(service, spec, pool, scratch);
            this.shared = pool;
        } catch (RuntimeException | Error e) {
            if (pool != null) {
                pool.close();
            }
            ids.give(sharedId);
            ids.give(scratchId);
            throw e;
        }
    }

    public String channel() {
        return binding.channel();
    }

    /** A connection of which the client does not know yet, with what it has to be told. */
    public record Offer(
            ShmServerConnection connection,
            UnixSocket socket,
            Handshake.Welcome welcome,
            SharedFile file,
            SharedPool.Seat seat)
            implements AutoCloseable {
        /** Tells the client. */
        public void send() {
            socket.send(welcome.encode(), file.fd(), seat.file().fd());
            connection.link.told();
        }

        /** Closes what only the client needs. */
        @Override
        public void close() {
            seat.close();
        }
    }

    /** Makes a connection; {@code count} hears when it hangs up and when its memory is gone. */
    public Offer prepare(UnixSocket socket, Handshake.Hello hello, Peer peer, ConnectionCount count) {
        check(hello);
        SharedPool.Seat seat = shared.join();
        try {
            return prepare(socket, hello, seat, peer, count);
        } catch (RuntimeException | Error e) {
            seat.close();
            shared.leave(seat.number());
            throw e;
        }
    }

    private Offer prepare(
            UnixSocket socket, Handshake.Hello hello, SharedPool.Seat seat, Peer peer, ConnectionCount count) {
        boolean sealsHeld = hello.sealsHeld() && spec.sandbox().enforcedSeals().isPresent();
        ConnectionPlan.Made made =
                ConnectionPlan.make(channel(), hello.slots(), quota(hello), spec.hugePages(), sealsHeld);
        SharedFile file = made.file();
        Handshake.Welcome welcome;
        try {
            welcome = welcome(hello, made.plan(), seat.number());
        } catch (RuntimeException | Error e) {
            file.close();
            throw e;
        }
        ShmServerConnection connection = connect(new SocketBell(socket), file, welcome, peer, count, () -> {});
        return new Offer(connection, socket, welcome, file, seat);
    }

    /** Bytes of a connection's memory. */
    public static long bytes(Handshake.Welcome welcome) {
        return welcome.reply().offset() + welcome.reply().bytes();
    }

    /**
     * The server's end of a connection. It owns the file, which is closed if making it fails; the bell then stays the caller's.
     *
     * @param file {@link #bytes} long; the control region is all zero
     * @param onRelease called when it does not use that memory any more
     */
    public ShmServerConnection connect(
            Bell bell,
            SharedFile file,
            Handshake.Welcome welcome,
            Peer peer,
            ConnectionCount count,
            Runnable onRelease) {
        Mapping mapping = null;
        HandlerWalls.Wall wall = HandlerWalls.Wall.NONE;
        try {
            file.reserve(0, ControlLayout.slotBytes(welcome.slots()));
            mapping = file.map();
            MemorySegment memory = mapping.memory();
            ControlLayout.largestSnapshot(memory, spec.sandbox().maxSnapshotBytes());
            ControlLayout.believesHeldSealsOnly(memory, binding.demandsEnforcedSeals());
            ControlLayout.initialise(memory, welcome.slots(), welcome.instance());
            Arena reply = Arena.create(arena(welcome.reply(), memory, file, FIRST_REPLY_BYTES));
            wall = walls.around(memory);
            Arena request = Arena.attach(arena(welcome.request(), memory, file, 0));
            ServerEnd link =
                    new ServerEnd(bell, file, mapping, wall, spec, shared, welcome, peer, request, reply, count, () -> {
                        giveIds(welcome);
                        onRelease.run();
                    });
            return new ShmServerConnection(link, binding, handlers);
        } catch (RuntimeException | Error e) {
            wall.close();
            if (mapping != null) {
                mapping.close();
            }
            file.close();
            giveIds(welcome);
            throw e;
        }
    }

    /** Gives back the numbers of a plan that {@link #connect} was not asked to carry out. */
    public void giveIds(Handshake.Welcome welcome) {
        ids.give(welcome.request().id());
        ids.give(welcome.reply().id());
    }

    /** The arena that all clients share. */
    public SharedPool shared() {
        return shared;
    }

    /** Refuses what cannot be granted. */
    public void check(Handshake.Hello hello) {
        if (hello.layout() != ControlLayout.VERSION) {
            throw Status.Code.FAILED_PRECONDITION
                    .with(
                            "channel %s: the client has memory layout version %d, the server version %d; use the same release of"
                                    + " Rackcall on both sides",
                            channel(), hello.layout(), ControlLayout.VERSION)
                    .asException();
        }
        if (!hello.channel().equals(channel())) {
            throw Status.Code.NOT_FOUND
                    .with("this socket serves channel %s, not %s", channel(), hello.channel())
                    .asException();
        }
        boolean powerOfTwo = Integer.bitCount(hello.slots()) == 1;
        if (!powerOfTwo || hello.slots() < Handshake.MIN_SLOTS || hello.slots() > Handshake.MAX_SLOTS) {
            throw Status.Code.INVALID_ARGUMENT
                    .with(
                            "%d slots asked; ask for a power of two from %d to %d",
                            hello.slots(), Handshake.MIN_SLOTS, Handshake.MAX_SLOTS)
                    .asException();
        }
    }

    /**
     * A place in the shared arena and memory for a client whose memory comes from elsewhere.
     *
     * @param hasLeft whether that client does not use the shared arena any more, and never will
     */
    public Handshake.Welcome join(Handshake.Hello hello, BooleanSupplier hasLeft) {
        int number = shared.join(hasLeft);
        try {
            return plan(hello, number);
        } catch (RuntimeException | Error e) {
            shared.leave(number);
            throw e;
        }
    }

    /** What a client gets, with numbers for its arenas, which {@link #connect} gives back in the end. */
    private Handshake.Welcome plan(Handshake.Hello hello, int participant) {
        return welcome(hello, ConnectionPlan.of(hello.slots(), quota(hello), ControlLayout.PAGE), participant);
    }

    private long quota(Handshake.Hello hello) {
        return Math.min(Math.max(Handshake.MIN_QUOTA, hello.arenaQuota()), arenaQuota);
    }

    private Handshake.Welcome welcome(Handshake.Hello hello, ConnectionPlan plan, int participant) {
        int requestId = ids.take();
        int replyId;
        try {
            replyId = ids.take();
        } catch (RuntimeException | Error e) {
            ids.give(requestId);
            throw e;
        }
        return new Handshake.Welcome(
                Status.OK,
                INSTANCES.nextLong(),
                hello.slots(),
                participant,
                new Handshake.ArenaPlace(requestId, plan.requestAt(), plan.quota()),
                new Handshake.ArenaPlace(replyId, plan.replyAt(), plan.quota()),
                new Handshake.ArenaPlace(sharedId, 0, shared.bytes()),
                binding.service().definition().fingerprint(),
                binding.service().definition().type().getName(),
                binding.service().definition().description());
    }

    private static ArenaSpec arena(Handshake.ArenaPlace place, MemorySegment memory, SharedFile file, long firstBytes) {
        return new ArenaSpec(
                place.id(),
                memory.asSlice(place.offset(), place.bytes()),
                file,
                place.offset(),
                TableHome.PRIVATE,
                ALLOCATOR,
                firstBytes);
    }

    /** To be called now and then. */
    public void tick() {
        shared.reclaim();
    }

    @Override
    public void close() {
        shared.close();
        scratch.close();
        ids.give(sharedId);
        ids.give(scratchId);
    }
}
