package dev.rackcall.grpc.wire;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.Uid;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.PeerCredentials;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;

/** Connects a client to the server of a channel. */
public final class PipeDial {
    private static final Duration PATIENCE = Duration.ofSeconds(5);

    private PipeDial() {}

    /**
     * Connects; blocks for some seconds at most.
     *
     * @param server the server's id, or empty for any living one
     * @param loop receives the connection's frames, once it is {@linkplain PipeConnection#start started}
     * @throws RpcException UNAVAILABLE if no server listens or answers, PERMISSION_DENIED if another user's does,
     *     FAILED_PRECONDITION if it speaks another protocol, or what the server says
     */
    public static PipeConnection connect(RuntimeDirectory directory, String channel, String server, PipeLoop loop) {
        RuntimeDirectory.checkName(channel);
        UnixSocket socket = null;
        try {
            socket = UnixSocket.connect(place(directory, channel, server), PATIENCE);
            PeerCredentials owner = socket.peer();
            if (owner.uid() != Uid.current()) {
                throw Status.Code.PERMISSION_DENIED
                        .with(
                                "channel %s is served by uid %d (pid %d), but this is uid %d: it would read what this process sends;"
                                        + " set RACKCALL_DIR to a directory of your own",
                                channel, owner.uid(), owner.pid(), Uid.current())
                        .asException();
            }
            socket.send(PipeHello.ofClient(channel));
            Optional<Message> answer = socket.receive(PATIENCE);
            if (answer.isEmpty() || answer.get().isEnd()) {
                throw Status.Code.UNAVAILABLE
                        .with(
                                "channel %s: its server %s; it may be stopped or overloaded",
                                channel,
                                answer.isEmpty() ? "did not answer within " + PATIENCE : "hung up instead of answering")
                        .asException();
            }
            return open(socket, owner, answer.get(), channel, loop);
        } catch (OsException e) {
            close(socket);
            throw whyNot(directory, channel, e);
        } catch (RuntimeException | Error e) {
            close(socket);
            throw e;
        }
    }

    private static Path place(RuntimeDirectory directory, String channel, String server) {
        if (!server.isEmpty()) {
            return directory.instance(channel, server).socket();
        }
        List<String> living = PipeServers.living(directory, channel);
        if (living.isEmpty()) {
            throw noServer(directory, channel).asException();
        }
        String any = living.get(ThreadLocalRandom.current().nextInt(living.size()));
        return directory.instance(channel, any).socket();
    }

    private static Status noServer(RuntimeDirectory directory, String channel) {
        return Status.Code.UNAVAILABLE.with(
                "no server has channel %s in %s; start it, or set RACKCALL_DIR to the server's directory (there now: %s)",
                channel, directory.path(), directory.channels());
    }

    private static void close(UnixSocket socket) {
        if (socket != null) {
            socket.close();
        }
    }

    private static RpcException whyNot(RuntimeDirectory directory, String channel, OsException e) {
        if (e.errno() == Errno.ENOENT || e.errno() == Errno.ECONNREFUSED) {
            return noServer(directory, channel).asException(e);
        }
        return (e.errno() == Errno.EACCES ? Status.Code.PERMISSION_DENIED : Status.Code.UNAVAILABLE)
                .with("channel %s: connecting failed: %s", channel, e.getMessage())
                .asException(e);
    }

    private static PipeConnection open(
            UnixSocket socket, PeerCredentials server, Message answer, String channel, PipeLoop loop) {
        try {
            Optional<Status> refusal = PipeHello.refusalIn(answer.bytes(), channel);
            if (refusal.isPresent()) {
                throw refusal.get().asException();
            }
            if (answer.fds().length != 1) {
                throw Status.Code.FAILED_PRECONDITION
                        .with("channel %s: the server sent %d file descriptors, not 1", channel, answer.fds().length)
                        .asException();
            }
            SharedFile file = answer.adopt(0);
            boolean sound = false;
            try {
                sound = PipeHello.isSound(file);
            } finally {
                if (!sound) {
                    file.close();
                }
            }
            if (!sound) {
                throw Status.Code.FAILED_PRECONDITION
                        .with("channel %s: the server's memory is %s and may change its length", channel, file)
                        .asException();
            }
            return PipeConnection.ofMemory(socket, PipeMemory.of(file), PipeLayout.Side.CLIENT, server, loop);
        } finally {
            answer.closeFds();
        }
    }
}
