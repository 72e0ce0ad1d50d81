package dev.rackcall.rpc.shm;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.ServerEndpoint;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.rpc.spi.Transport;
import dev.rackcall.shm.os.Message;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.SharedFile;
import dev.rackcall.shm.os.UnixSocket;
import java.nio.file.Files;
import java.util.Optional;

/** Calls between processes that map the same memory: same host, or same CXL pool. */
public final class ShmTransport implements Transport {
    private static final int MAX_FDS = 2;

    /** For {@link java.util.ServiceLoader}. */
    public ShmTransport() {}

    @Override
    public String name() {
        return "shared memory";
    }

    @Override
    public ServerEndpoint serve(ServerSpec spec) {
        return ShmServer.start(spec);
    }

    @Override
    public ClientConnection connect(ClientSpec spec) {
        UnixSocket socket = dial(spec);
        try {
            socket.send(new Handshake.Hello(ControlLayout.VERSION, spec.channel(), spec.slots(), spec.arenaQuota())
                    .encode());
            Optional<Message> answer = socket.receive(spec.connectTimeout());
            if (answer.isEmpty() || answer.get().isEnd()) {
                throw Status.Code.UNAVAILABLE
                        .with(
                                "channel %s: its server %s within %s; it may be stopped or overloaded",
                                spec.channel(),
                                answer.isEmpty() ? "did not answer" : "hung up instead of answering",
                                spec.connectTimeout())
                        .asException();
            }
            return open(socket, answer.get(), spec);
        } catch (OsException e) {
            socket.close();
            throw Status.Code.UNAVAILABLE
                    .with("channel %s: connecting failed: %s", spec.channel(), e.getMessage())
                    .asException(e);
        } catch (RuntimeException | Error e) {
            socket.close();
            throw e;
        }
    }

    private static UnixSocket dial(ClientSpec spec) {
        RuntimeDirectory directory = RuntimeDirectory.at(spec.directory());
        try {
            if (!Files.exists(directory.socket(spec.channel()))) {
                throw notServed(spec, directory);
            }
            return UnixSocket.connect(directory.socket(spec.channel()), spec.connectTimeout());
        } catch (OsException e) {
            if (directory.clean(spec.channel())) {
                throw notServed(spec, directory);
            }
            throw Status.Code.UNAVAILABLE
                    .with("channel %s: its server cannot be reached: %s", spec.channel(), e.getMessage())
                    .asException(e);
        }
    }

    private static RpcException notServed(ClientSpec spec, RuntimeDirectory directory) {
        return Status.Code.NOT_FOUND
                .with(
                        "no server has channel %s in %s; start it, or set RACKCALL_DIR to the server's directory (there now: %s)",
                        spec.channel(), spec.directory(), directory.channels())
                .asException();
    }

    private static ClientConnection open(UnixSocket socket, Message answer, ClientSpec spec) {
        try {
            Handshake.Welcome welcome = Handshake.Welcome.decode(answer.bytes());
            if (!welcome.status().isOk()) {
                throw welcome.status().asException();
            }
            if (answer.fds().length != MAX_FDS) {
                throw new Handshake.MalformedException(
                        "it sent " + answer.fds().length + " file descriptors, not " + MAX_FDS);
            }
            return map(socket, answer.fds(), welcome, spec);
        } catch (Handshake.MalformedException e) {
            answer.closeFds();
            throw Status.Code.FAILED_PRECONDITION
                    .with("channel %s: the handshake failed: %s", spec.channel(), e.getMessage())
                    .asException(e);
        } catch (RuntimeException | Error e) {
            answer.closeFds();
            throw e;
        }
    }

    private static ClientConnection map(UnixSocket socket, int[] fds, Handshake.Welcome welcome, ClientSpec spec)
            throws Handshake.MalformedException {
        SharedFile file = SharedFile.adopt(fds[0]);
        SharedFile shared = SharedFile.adopt(fds[1]);
        checkPlaces(welcome, file, shared);
        ClientLink link = new ClientLink(socket, file, shared, welcome, spec.channel());
        if (!ControlLayout.isInitialised(link.memory(), welcome.slots(), welcome.instance())) {
            throw new Handshake.MalformedException("its memory has another layout than its handshake says");
        }
        ShmClientConnection connection = new ShmClientConnection(link, spec);
        link.start(connection);
        return connection;
    }

    private static void checkPlaces(Handshake.Welcome welcome, SharedFile file, SharedFile shared)
            throws Handshake.MalformedException {
        boolean sane = welcome.slots() > 0
                && Integer.bitCount(welcome.slots()) == 1
                && ControlLayout.controlBytes(welcome.slots())
                        <= welcome.request().offset()
                && welcome.request().fits(file.bytes())
                && welcome.reply().fits(file.bytes())
                && welcome.shared().fits(shared.bytes())
                && file.isSealed()
                && shared.isSealed();
        if (!sane) {
            throw new Handshake.MalformedException("its memory is smaller than its handshake says, or not sealed");
        }
    }
}
