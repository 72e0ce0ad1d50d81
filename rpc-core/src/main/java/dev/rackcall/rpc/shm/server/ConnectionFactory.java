package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.Bell;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.protocol.SocketBell;
import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.TableHome;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.IntFunction;

/**
 * Makes the memory of new connections to one channel: a sealed memfd each, divided into control region, request arena
 * and reply arena.
 */
public final class ConnectionFactory implements AutoCloseable {
    private static final long FIRST_REPLY_BYTES = 16 << 10;
    private static final int ALLOCATOR = 1;
    /** Advice for callers. Short: in a full arena, an answer has no room for more. */
    private static final String WHEN_FULL = "RpcChannel.release results, or raise arenaQuota";

    private static final SecureRandom INSTANCES = new SecureRandom();

    private final ServerSpec spec;
    private final long arenaQuota;
    private final ServiceBinding binding;
    /** The server's other services for clients of this channel, by their channels. */
    private final Map<String, ServiceBinding> others = new ConcurrentHashMap<>();

    private final SharedPool shared;
    private final Handlers handlers;
    private final HandlerWalls walls;
    private final ArenaIds ids = ArenaIds.shared();
    private final int sharedId;
    private final Scratch scratch;
    private final int scratchId;

    /** Serves clients on this host, and on hosts that share no memory with it. */
    public ConnectionFactory(ServerSpec spec, ServerSpec.Service<?> service, Handlers handlers) {
        this(
                spec,
                service,
                handlers,
                spec.limits().arenaQuota(),
                id -> new SharedPool(service.channel(), id, spec.limits().sharedQuota()));
    }

    /**
     * Serves clients whose memory is made elsewhere, through {@link #join} and {@link #connect}.
     *
     * @param arenaQuota maximum bytes of each arena of a connection
     * @param makesShared makes the channel's shared arena with the given arena number
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
        this.scratch = new Scratch(service.channel(), scratchId, spec.limits().sharedQuota());
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

    /** A connection not yet announced to its client, with everything that must be sent to the client. */
    public record Offer(
            ShmServerConnection connection,
            UnixSocket socket,
            Handshake.ServerHello serverHello,
            SharedFile file,
            SharedPool.Seat seat)
            implements AutoCloseable {
        /** Sends the client its hello and the descriptors of the memory. */
        public void send() {
            socket.send(serverHello.encode(), file.fd(), seat.file().fd());
            connection.end.told();
        }

        /** Closes what only the client needs. */
        @Override
        public void close() {
            seat.close();
        }
    }

    /**
     * Makes a connection.
     *
     * @param access why the client may not use another channel of the server; empty if it may
     * @param count is notified when the connection hangs up and when its memory is released
     */
    public Offer prepare(
            UnixSocket socket,
            Handshake.ClientHello hello,
            Peer peer,
            Function<String, Optional<Status>> access,
            ConnectionCount count) {
        check(hello);
        SharedPool.Seat seat = shared.join();
        try {
            return prepare(socket, hello, seat, peer, access, count);
        } catch (RuntimeException | Error e) {
            seat.close();
            shared.leave(seat.number());
            throw e;
        }
    }

    private Offer prepare(
            UnixSocket socket,
            Handshake.ClientHello hello,
            SharedPool.Seat seat,
            Peer peer,
            Function<String, Optional<Status>> access,
            ConnectionCount count) {
        boolean sealsHeld =
                hello.sealsHeld() && spec.trust().sandbox().enforcedSeals().isPresent();
        ConnectionPlan.Made made = ConnectionPlan.make(
                channel(), hello.slots(), quota(hello), spec.place().hugePages(), sealsHeld);
        SharedFile file = made.file();
        Handshake.ServerHello serverHello;
        try {
            serverHello = serverHello(hello, made.plan(), seat.number());
        } catch (RuntimeException | Error e) {
            file.close();
            throw e;
        }
        Route.Kind transport = peer.pid() == ProcessHandle.current().pid() ? Route.Kind.PROCESS : Route.Kind.HOST;
        ShmServerConnection connection =
                connect(new SocketBell(socket), file, serverHello, peer, transport, access, count, () -> {});
        return new Offer(connection, socket, serverHello, file, seat);
    }

    /** The service of another channel of this server, for a client of this one. */
    private Optional<ServiceBinding> other(String channel, Function<String, Optional<Status>> access) {
        Optional<ServerSpec.Service<?>> service = spec.services().stream()
                .filter(each -> each.channel().equals(channel))
                .findFirst();
        if (service.isEmpty()) {
            return Optional.empty();
        }
        access.apply(channel).ifPresent(refusal -> {
            throw refusal.asException();
        });
        return Optional.of(
                others.computeIfAbsent(channel, _ -> new ServiceBinding(service.get(), spec, shared, scratch)));
    }

    /** Bytes of a connection's memory. */
    public static long bytes(Handshake.ServerHello serverHello) {
        return serverHello.reply().offset() + serverHello.reply().bytes();
    }

    /**
     * Makes the server's end of a connection. It owns the file and closes it on failure; the caller keeps the bell.
     *
     * @param file {@link #bytes} long; the control region is all zero
     * @param access why the client may not use another channel of the server; empty if it may
     * @param onRelease called when the server no longer uses that memory
     */
    public ShmServerConnection connect(
            Bell bell,
            SharedFile file,
            Handshake.ServerHello serverHello,
            Peer peer,
            Route.Kind transport,
            Function<String, Optional<Status>> access,
            ConnectionCount count,
            Runnable onRelease) {
        Mapping mapping = null;
        HandlerWalls.Wall wall = HandlerWalls.Wall.NONE;
        try {
            file.reserve(0, ControlLayout.slotBytes(serverHello.slots()));
            mapping = file.map().ownedBy("the client's connection to channel " + channel());
            MemorySegment memory = mapping.memory();
            ControlLayout.largestSnapshot(memory, spec.trust().sandbox().maxSnapshotBytes());
            ControlLayout.believesHeldSealsOnly(memory, binding.demandsEnforcedSeals());
            ControlLayout.serverIsHere(memory);
            ControlLayout.route(memory, transport);
            ControlLayout.initialise(memory, serverHello.slots(), serverHello.instance());
            Arena reply = Arena.create(arena(serverHello.reply(), memory, file, FIRST_REPLY_BYTES));
            wall = walls.around(memory);
            Arena request = Arena.attach(arena(serverHello.request(), memory, file, 0));
            Runnable released = () -> {
                giveIds(serverHello);
                onRelease.run();
            };
            ServerEnd.ServerMemory parts = new ServerEnd.ServerMemory(file, mapping, wall, request, reply, released);
            ServerEnd end = new ServerEnd(bell, parts, binding, serverHello, peer, transport, count);
            BoundServices services = new BoundServices(binding, channel -> other(channel, access));
            return new ShmServerConnection(end, services, handlers, spec.clock());
        } catch (RuntimeException | Error e) {
            wall.close();
            if (mapping != null) {
                mapping.close();
            }
            file.close();
            giveIds(serverHello);
            throw e;
        }
    }

    /** Releases the arena numbers of a hello for which {@link #connect} was not called. */
    public void giveIds(Handshake.ServerHello serverHello) {
        ids.give(serverHello.request().id());
        ids.give(serverHello.reply().id());
    }

    /** The channel's shared arena. */
    public SharedPool shared() {
        return shared;
    }

    /** Refuses a hello whose request cannot be granted. */
    public void check(Handshake.ClientHello hello) {
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
     * Assigns a participant number and arena numbers to a client whose memory is made elsewhere.
     *
     * @param hasLeft whether that client has stopped using the shared arena for good
     */
    public Handshake.ServerHello join(Handshake.ClientHello hello, BooleanSupplier hasLeft) {
        int number = shared.join(hasLeft);
        try {
            return plan(hello, number);
        } catch (RuntimeException | Error e) {
            shared.leave(number);
            throw e;
        }
    }

    /** The hello for a client; a connection made by {@link #connect} releases the arena numbers when it ends. */
    private Handshake.ServerHello plan(Handshake.ClientHello hello, int participant) {
        return serverHello(hello, ConnectionPlan.of(hello.slots(), quota(hello), ControlLayout.PAGE), participant);
    }

    private long quota(Handshake.ClientHello hello) {
        return Math.min(Math.max(Handshake.MIN_QUOTA, hello.arenaQuota()), arenaQuota);
    }

    private Handshake.ServerHello serverHello(Handshake.ClientHello hello, ConnectionPlan plan, int participant) {
        int requestId = ids.take();
        int replyId;
        try {
            replyId = ids.take();
        } catch (RuntimeException | Error e) {
            ids.give(requestId);
            throw e;
        }
        return new Handshake.ServerHello(
                Status.OK,
                INSTANCES.nextLong(),
                hello.slots(),
                participant,
                new Handshake.Arenas(
                        new Handshake.ArenaPlace(requestId, plan.requestAt(), plan.quota()),
                        new Handshake.ArenaPlace(replyId, plan.replyAt(), plan.quota()),
                        new Handshake.ArenaPlace(sharedId, 0, shared.bytes())),
                ServedInterface.of(binding.service().definition()));
    }

    private static ArenaSpec arena(Handshake.ArenaPlace place, MemorySegment memory, SharedFile file, long firstBytes) {
        return new ArenaSpec(
                place.id(),
                memory.asSlice(place.offset(), place.bytes()),
                file,
                place.offset(),
                TableHome.PRIVATE,
                ALLOCATOR,
                firstBytes,
                WHEN_FULL);
    }

    /** Called periodically. */
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
