package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.ServerInstance;
import dev.rackcall.rpc.shm.client.ClientEnd;
import dev.rackcall.rpc.shm.client.ClientMemory;
import dev.rackcall.rpc.shm.client.SealEnforcement;
import dev.rackcall.rpc.shm.client.ServerHelloCheck;
import dev.rackcall.rpc.shm.client.ShmClientConnection;
import dev.rackcall.rpc.shm.mirror.RemoteClient;
import dev.rackcall.rpc.shm.mirror.RemoteServer;
import dev.rackcall.rpc.shm.pool.PoolClient;
import dev.rackcall.rpc.shm.pool.PoolServer;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.protocol.SocketBell;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.ServerEndpoint;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.Uid;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.PeerCredentials;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;

/** Connects channels and starts servers over the transport that their settings name: this host's memory, a shared pool, or a carrier. */
public final class Transports {
    /** How often a thread that waits for a server's answer checks for an interrupt. */
    private static final long INTERRUPT_LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private static final int MAX_FDS = 2;

    private Transports() {}

    /**
     * Begins to serve.
     *
     * @throws RpcException ALREADY_EXISTS if a living server has one of the channels
     */
    public static ServerEndpoint serve(ServerSpec spec) {
        ServerEndpoint near = spec.place().pool().isPresent()
                ? PoolServer.start(spec, spec.place().pool().get())
                : ShmServer.start(spec);
        if (spec.place().addresses().isEmpty()) {
            return near;
        }
        try {
            return new BothEndpoints(near, RemoteServer.start(spec));
        } catch (RuntimeException | Error e) {
            near.close();
            throw e;
        }
    }

    /**
     * Connects to a channel's server.
     *
     * @throws RpcException NOT_FOUND if no server has the channel, UNAVAILABLE if its server does not answer in time,
     *     PERMISSION_DENIED if it refuses this user, FAILED_PRECONDITION if it speaks another version
     */
    public static ClientConnection connect(ClientSpec spec) {
        if (spec.address().isPresent() || spec.pool().isPresent()) {
            SealEnforcement.requireNone(spec, "they protect memory of one host");
        }
        if (spec.address().isPresent()) {
            return RemoteClient.connect(spec, spec.address().get());
        }
        return spec.pool().isPresent()
                ? PoolClient.connect(spec, spec.pool().get(), Optional.empty())
                : HostServers.connectAny(spec).connection();
    }

    /**
     * Connects to one of a channel's servers in the pool.
     *
     * @param server its {@link ServerEndpoint#instance}; empty for any one
     * @throws RpcException as {@link #connect}; NOT_FOUND also if that server has ended
     */
    public static ClientConnection connectInPool(ClientSpec spec, Optional<String> server) {
        SealEnforcement.requireNone(spec, "they protect memory of one host");
        return PoolClient.connect(spec, spec.pool().orElseThrow(), server);
    }

    /**
     * Connects to that server of this host.
     *
     * @throws OsException if it does not listen
     * @throws RpcException as {@link #connect}
     */
    static ShmClientConnection connect(ClientSpec spec, ServerInstance server) {
        UnixSocket socket = checked(UnixSocket.connect(server.socket(), spec.connectTimeout()), spec);
        try {
            socket.send(new Handshake.ClientHello(
                            ControlLayout.VERSION,
                            spec.channel(),
                            spec.slots(),
                            spec.arenaQuota(),
                            spec.sealing().enforced().isPresent())
                    .encode());
            Optional<Message> answer = answer(socket, spec);
            if (answer.isEmpty() || answer.get().isEnd()) {
                throw Status.Code.UNAVAILABLE
                        .with(
                                "channel %s: its server %s within %s; it may be stopped or overloaded",
                                spec.channel(),
                                answer.isEmpty() ? "did not answer" : "hung up instead of answering",
                                spec.connectTimeout())
                        .asException();
            }
            return SealEnforcement.arrange(open(socket, answer.get(), spec), spec);
        } catch (OsException e) {
            socket.close();
            throw (e.errno() == Errno.ENOMEM ? Status.Code.RESOURCE_EXHAUSTED : Status.Code.UNAVAILABLE)
                    .with("channel %s: connecting failed: %s", spec.channel(), e.getMessage())
                    .asException(e);
        } catch (RuntimeException | Error e) {
            socket.close();
            throw e;
        }
    }

    /** The server's answer; empty if it does not come in time. Polls for interrupts, because an interrupt does not end a native wait. */
    private static Optional<Message> answer(UnixSocket socket, ClientSpec spec) {
        long end = System.nanoTime() + spec.connectTimeout().toNanos();
        while (true) {
            long left = Math.max(0, end - System.nanoTime());
            Optional<Message> answer = socket.receive(Duration.ofNanos(Math.min(left, INTERRUPT_LOOK_NANOS)));
            if (answer.isPresent() || left == 0) {
                return answer;
            }
            requireNotInterrupted(spec);
        }
    }

    /** @throws RpcException CANCELLED if this thread, which connects, is interrupted; it stays so */
    static void requireNotInterrupted(ClientSpec spec) {
        if (Thread.currentThread().isInterrupted()) {
            throw Status.Code.CANCELLED
                    .with(
                            "channel %s: the thread was interrupted while it waited for a server to answer; the interrupt"
                                    + " flag is still set, so clear it before the next attempt",
                            spec.channel())
                    .asException();
        }
    }

    /**
     * Returns the socket if this user's own server listens there: the directory's creator could have put another user's
     * socket there.
     */
    private static UnixSocket checked(UnixSocket socket, ClientSpec spec) {
        try {
            requireOwn(socket.peer(), spec.channel());
            return socket;
        } catch (RuntimeException | Error e) {
            socket.close();
            throw e;
        }
    }

    static void requireOwn(PeerCredentials server, String channel) {
        if (server.uid() != Uid.current()) {
            throw Status.Code.PERMISSION_DENIED
                    .with(
                            "channel %s is served by uid %d (pid %d), but this is uid %d: it would read what this process sends;"
                                    + " set RACKCALL_DIR to a directory of your own",
                            channel, server.uid(), server.pid(), Uid.current())
                    .asException();
        }
    }

    /** Makes a connection from the server's answer, or closes every descriptor that came with it. */
    private static ShmClientConnection open(UnixSocket socket, Message answer, ClientSpec spec) {
        List<SharedFile> files = new ArrayList<>();
        try {
            Handshake.ServerHello serverHello = Handshake.ServerHello.decode(answer.bytes());
            if (!serverHello.status().isOk()) {
                throw serverHello.status().asException();
            }
            if (answer.fds().length != MAX_FDS) {
                throw new Handshake.MalformedException(
                        "it sent " + answer.fds().length + " file descriptors, not " + MAX_FDS);
            }
            for (int i = 0; i < MAX_FDS; i++) {
                files.add(answer.adopt(i));
            }
            return connect(socket, files.get(0), files.get(1), serverHello, spec);
        } catch (Handshake.MalformedException e) {
            closeAll(answer, files);
            throw Status.Code.FAILED_PRECONDITION
                    .with("channel %s: the handshake failed: %s", spec.channel(), e.getMessage())
                    .asException(e);
        } catch (OutOfArenaException e) {
            closeAll(answer, files);
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with("channel %s: connecting failed: %s", spec.channel(), e.getMessage())
                    .asException(e);
        } catch (RuntimeException | Error e) {
            closeAll(answer, files);
            throw e;
        }
    }

    private static void closeAll(Message answer, List<SharedFile> adopted) {
        answer.closeFds();
        adopted.forEach(SharedFile::close);
    }

    /** How calls travel between this process and another one of this host, which may be the same. */
    static Route.Kind transport(int pid) {
        return pid == ProcessHandle.current().pid() ? Route.Kind.PROCESS : Route.Kind.HOST;
    }

    private static ShmClientConnection connect(
            UnixSocket socket, SharedFile file, SharedFile shared, Handshake.ServerHello serverHello, ClientSpec spec)
            throws Handshake.MalformedException {
        ServerHelloCheck.of(serverHello, spec).require(file, shared);
        ClientMemory memory = ClientMemory.open(file, shared, serverHello, spec);
        ClientEnd end = new ClientEnd(
                new SocketBell(socket),
                memory,
                serverHello,
                spec.channel(),
                transport(socket.peer().pid()));
        try {
            ShmClientConnection connection = new ShmClientConnection(end, spec);
            end.start(connection);
            return connection;
        } catch (RuntimeException | Error e) {
            end.discard();
            throw e;
        }
    }

    /** A server with a second listener, for clients that share no memory with it. */
    record BothEndpoints(ServerEndpoint near, ServerEndpoint far) implements ServerEndpoint {
        @Override
        public void drain() {
            near.drain();
            far.drain();
        }

        @Override
        public boolean awaitDrained(Duration bound) {
            long end = System.nanoTime() + bound.toNanos();
            return near.awaitDrained(bound) && far.awaitDrained(Duration.ofNanos(Math.max(1, end - System.nanoTime())));
        }

        @Override
        public void onLost(Runnable action) {
            near.onLost(action);
        }

        @Override
        public Optional<String> instance() {
            return near.instance();
        }

        @Override
        public int connections() {
            return near.connections() + far.connections();
        }

        @Override
        public int callsUnderWay() {
            return near.callsUnderWay() + far.callsUnderWay();
        }

        @Override
        public List<URI> addresses() {
            return far.addresses();
        }

        @Override
        public void close() {
            try {
                far.close();
            } finally {
                near.close();
            }
        }
    }
}
