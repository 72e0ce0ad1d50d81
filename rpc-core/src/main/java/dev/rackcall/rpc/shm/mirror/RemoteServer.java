package dev.rackcall.rpc.shm.mirror;

import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.server.ConnectionFactory;
import dev.rackcall.rpc.shm.server.PolledServer;
import dev.rackcall.rpc.shm.server.ShmServerConnection;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.rpc.spi.CarrierProvider;
import dev.rackcall.rpc.spi.LimitedLog;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.waiting.SpinTime;
import java.net.URI;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * Accepts clients that share no memory with the server. Each address serves all channels, because the client's hello
 * names the channel. A channel's shared scopes are the same at every address. Connections differ from shared memory
 * only in their bell.
 */
public final class RemoteServer extends PolledServer {
    private static final LimitedLog LOG = LimitedLog.of(RemoteServer.class);
    /** A peer over a network, whose process and user no kernel reports. */
    private static final Peer STRANGER = new Peer(0, -1, -1);

    private final Map<String, ConnectionFactory> channels = new HashMap<>();
    private final Map<String, ChannelScopes> scopes = new HashMap<>();
    private final Thread guardian = new Thread(this::guard, "rackcall-remote");
    private final List<CarrierProvider.Listener> listeners = new ArrayList<>();
    private volatile boolean stopping;
    /** Set when no more connections may be added. Guarded by {@link #scopes}. */
    private boolean ended;

    private RemoteServer(ServerSpec spec) {
        super(spec);
        guardian.setDaemon(true);
    }

    public static RemoteServer start(ServerSpec spec) {
        RemoteServer server = new RemoteServer(spec);
        try {
            for (ServerSpec.Service<?> service : spec.services()) {
                server.open(service);
            }
            server.startPollers(SpinTime::ofDevice);
            server.guardian.start();
            for (URI address : spec.place().addresses()) {
                CarrierProvider provider = CarrierProvider.require(address);
                provider.requireSecure(address, spec.place().insecure());
                server.listeners.add(provider.listen(address, server.new Guests(provider.kind(address))));
            }
            return server;
        } catch (RuntimeException | Error e) {
            server.close();
            throw e;
        }
    }

    private void open(ServerSpec.Service<?> service) {
        String channel = service.channel();
        ConnectionFactory factory = new ConnectionFactory(spec, service, handlers);
        channels.put(channel, factory);
        scopes.put(channel, new ChannelScopes(factory.shared().arena()));
    }

    @Override
    public List<URI> addresses() {
        return listeners.stream().map(CarrierProvider.Listener::address).toList();
    }

    /** Relieves pollers whose direct handlers do not return. */
    private void guard() {
        while (!stopping) {
            LockSupport.parkNanos(untilNextWatch());
            try {
                watchPollers();
            } catch (RuntimeException | Error e) {
                LOG.error("relieving a poller failed; the server goes on", e);
            }
        }
    }

    @Override
    protected void wakeWatcher() {
        LockSupport.unpark(guardian);
    }

    // ---- threads of the listener

    /** Clients that are not connected yet. */
    private final class Guests implements CarrierProvider.Reception {
        private final Route.Kind transport;

        Guests(Route.Kind transport) {
            this.transport = transport;
        }

        @Override
        public CarrierProvider.Inspection inspect(ByteBuffer packet, Set<String> names) {
            try {
                Handshake.ClientHello hello = Handshake.ClientHello.decode(RemoteClient.bytes(packet));
                ConnectionFactory factory = factory(hello);
                Optional<Status> stranger = access.refusesNames(hello.channel(), names);
                if (stranger.isPresent()) {
                    return CarrierProvider.Inspection.refused(refusal(stranger.get()));
                }
                factory.check(hello);
                requireRoom(hello.channel());
                return CarrierProvider.Inspection.passed(2 * hello.slots());
            } catch (Handshake.MalformedException e) {
                return CarrierProvider.Inspection.refused(refusal(malformed(e)));
            } catch (RpcException e) {
                return CarrierProvider.Inspection.refused(refusal(e.status()));
            }
        }

        @Override
        public CarrierProvider.Answer greet(ByteBuffer packet) {
            try {
                return answer(transport, Handshake.ClientHello.decode(RemoteClient.bytes(packet)));
            } catch (Handshake.MalformedException e) {
                return new CarrierProvider.Answer(refusal(malformed(e)), Optional.empty());
            } catch (RpcException e) {
                return new CarrierProvider.Answer(refusal(e.status()), Optional.empty());
            } catch (OutOfArenaException | OsException e) {
                return new CarrierProvider.Answer(
                        refusal(Status.Code.RESOURCE_EXHAUSTED.with(
                                "the server has no memory for a connection: %s; ask for a smaller arenaQuota",
                                e.getMessage())),
                        Optional.empty());
            }
        }

        private static Status malformed(Handshake.MalformedException e) {
            return Status.Code.FAILED_PRECONDITION.with("the handshake failed: %s", e.getMessage());
        }

        @Override
        public ByteBuffer refusal(Status why) {
            return ByteBuffer.wrap(Handshake.ServerHello.refusal(why).encode());
        }
    }

    /** Why a client of one channel may not use another one, too: its certificate was checked for the first one only. */
    private Optional<Status> refusesOther(String channel) {
        return spec.trust().access().containsKey(channel)
                ? Optional.of(Status.Code.PERMISSION_DENIED.with(
                        "channel %s has an access list; open a channel of that name for its stubs", channel))
                : Optional.empty();
    }

    private ConnectionFactory factory(Handshake.ClientHello hello) {
        ConnectionFactory factory = channels.get(hello.channel());
        if (factory == null) {
            throw Status.Code.NOT_FOUND
                    .with("no channel %s is served here (there are %s)", hello.channel(), channels.keySet())
                    .asException();
        }
        return factory;
    }

    private CarrierProvider.Answer answer(Route.Kind transport, Handshake.ClientHello hello) {
        ConnectionFactory factory = factory(hello);
        factory.check(hello);
        synchronized (this) {
            requireRoom(hello.channel());
            connections.comes();
        }
        try {
            Seat seat = Seat.of(this, transport, factory, hello);
            return new CarrierProvider.Answer(ByteBuffer.wrap(seat.serverHello.encode()), Optional.of(seat));
        } catch (RuntimeException | Error e) {
            notConnected();
            throw e;
        }
    }

    /** Memory for one client, and then its connection. */
    private static final class Seat implements CarrierProvider.Seat {
        private final RemoteServer server;
        private final Route.Kind transport;
        private final ConnectionFactory factory;
        private final Handshake.ServerHello serverHello;
        private final SharedFile file;
        private final Mapping mapping;

        private Seat(
                RemoteServer server,
                Route.Kind transport,
                ConnectionFactory factory,
                Handshake.ServerHello serverHello,
                SharedFile file,
                Mapping mapping) {
            this.server = server;
            this.transport = transport;
            this.factory = factory;
            this.serverHello = serverHello;
            this.file = file;
            this.mapping = mapping;
        }

        static Seat of(
                RemoteServer server, Route.Kind transport, ConnectionFactory factory, Handshake.ClientHello hello) {
            // A participant number is taken but not used: this client allocates in an arena of its own.
            Handshake.ServerHello serverHello = factory.join(hello, () -> true);
            SharedFile file = null;
            try {
                file = SharedFile.memfd("rackcall" + hello.channel(), ConnectionFactory.bytes(serverHello));
                file.reserve(0, file.bytes());
                return new Seat(server, transport, factory, serverHello, file, file.map());
            } catch (RuntimeException | Error e) {
                if (file != null) {
                    file.close();
                }
                factory.giveIds(serverHello);
                factory.shared().leave(serverHello.participant());
                throw e;
            }
        }

        @Override
        public CarrierProvider.Memory memory() {
            return new CarrierProvider.Memory(file, mapping.memory());
        }

        @Override
        public void take(Carrier carrier) {
            ServerMirror bell = bell(carrier);
            ShmServerConnection connection;
            try {
                connection = connect(bell);
            } catch (RuntimeException | Error e) {
                bell.close();
                count();
                factory.shared().leave(serverHello.participant());
                throw e;
            }
            carrier.start(bell);
            connection.end.told();
        }

        private ServerMirror bell(Carrier carrier) {
            try {
                return new ServerMirror(carrier, mapping, serverHello);
            } catch (RuntimeException | Error e) {
                carrier.close();
                leave();
                throw e;
            }
        }

        /** Locked, because a stopped poller ends only the connections that were added before. */
        private ShmServerConnection connect(ServerMirror bell) {
            synchronized (server.scopes) {
                if (server.ended) {
                    file.close();
                    factory.giveIds(serverHello);
                    throw Status.Code.UNAVAILABLE
                            .with("channel %s: its server is shutting down", factory.channel())
                            .asException();
                }
                ShmServerConnection connection = factory.connect(
                        bell,
                        file,
                        serverHello,
                        STRANGER,
                        transport,
                        server::refusesOther,
                        server.connections,
                        () -> {});
                bell.join(server.scopes.get(factory.channel()), connection.end);
                server.add(connection);
                return connection;
            }
        }

        @Override
        public void leave() {
            mapping.close();
            file.close();
            factory.giveIds(serverHello);
            factory.shared().leave(serverHello.participant());
            count();
        }

        private void count() {
            server.notConnected();
        }
    }

    // ---- the end

    @Override
    public void close() {
        admitNobody();
        stopping = true;
        listeners.forEach(CarrierProvider.Listener::close);
        LockSupport.unpark(guardian);
        join(guardian);
        synchronized (scopes) {
            ended = true;
        }
        endCalls();
        channels.values().forEach(ConnectionFactory::close);
    }
}
