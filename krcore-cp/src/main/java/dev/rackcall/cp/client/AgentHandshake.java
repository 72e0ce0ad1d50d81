package dev.rackcall.cp.client;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.session.CachedPlatformThreads;
import dev.rackcall.cp.session.SessionLayout;
import dev.rackcall.cp.session.SessionMessage;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.Uid;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeoutException;

/**
 * The handshake by which a process becomes a tenant of the agent process that listens at a path. Each side checks the
 * other's user, and the agent passes the memory of the session.
 */
final class AgentHandshake {
    private static final int MAX_NAME = 100;
    /** How long to wait for a listener whose backlog is full. */
    private static final Duration DOOR_TIME = Duration.ofSeconds(2);

    private static final ExecutorService LISTENERS = CachedPlatformThreads.create("rackcall-agent");

    private final Path path;
    private final UnixSocket socket;
    private final Patience patience;

    private AgentHandshake(Path path, UnixSocket socket, Patience patience) {
        this.path = path;
        this.socket = socket;
        this.patience = patience;
    }

    /**
     * @throws ControlPlaneException UNREACHABLE if no agent listens there or it does not reply in time; or the agent's
     *     refusal
     */
    static TenantSession say(Path path, String name, Patience patience) {
        return say(path, name, SessionLayout.VERSION, Uid.current(), patience);
    }

    static TenantSession say(Path path, String name, int version, int uid, Patience patience) {
        UnixSocket socket;
        try {
            Duration left = patience.timeLeft();
            socket = UnixSocket.connect(path, left.compareTo(DOOR_TIME) < 0 ? left : DOOR_TIME);
        } catch (OsException e) {
            throw new ControlPlaneException(
                    Kind.UNREACHABLE,
                    "no agent process listens at " + path + " (" + e.getMessage() + "); start ./rackcall agent");
        }
        AgentHandshake hello = new AgentHandshake(path, socket, patience);
        try {
            hello.requireTrusted(uid);
            hello.send(version, name);
            return hello.awaitReply();
        } catch (OsException | IllegalArgumentException e) {
            socket.close();
            throw hello.endedEarly(e);
        } catch (RuntimeException | Error e) {
            socket.close();
            throw e;
        }
    }

    private void requireTrusted(int uid) {
        int other = socket.peer().uid();
        if (other != uid && other != 0) {
            throw new ControlPlaneException(
                    Kind.REFUSED,
                    "user " + other + " listens at " + socket + ", which user " + uid
                            + " does not trust; choose a folder that only this user can write");
        }
    }

    private void send(int version, String name) {
        byte[] bytes = name.getBytes(StandardCharsets.UTF_8);
        ByteBuffer body = SessionMessage.newBody()
                .put(Arrays.copyOf(bytes, Math.min(MAX_NAME, bytes.length)))
                .flip();
        socket.send(new SessionMessage(version, SessionMessage.HELLO, 0, body).toBytes(), patience.timeLeft());
    }

    /**
     * Receives the reply on a platform thread, which may block in the kernel; that thread then listens as long as the
     * session lasts.
     */
    private TenantSession awaitReply() {
        CompletableFuture<TenantSession> reply = new CompletableFuture<>();
        LISTENERS.execute(() -> listen(reply));
        try {
            return patience.await(reply, "waiting for the agent at " + path);
        } catch (ExecutionException e) {
            throw asUnchecked(e.getCause());
        } catch (TimeoutException e) {
            throw left(reply, silent());
        } catch (ControlPlaneException e) {
            throw left(reply, e);
        }
    }

    /** Abandons the handshake; a session that was completed meanwhile is closed. */
    private static ControlPlaneException left(CompletableFuture<TenantSession> reply, ControlPlaneException why) {
        if (!reply.completeExceptionally(why) && !reply.isCompletedExceptionally()) {
            reply.join().close();
        }
        return why;
    }

    private static RuntimeException asUnchecked(Throwable cause) {
        return switch (cause) {
            case RuntimeException e -> e;
            case Error e -> throw e;
            default -> new IllegalStateException("the handshake throws unchecked exceptions only", cause);
        };
    }

    private ControlPlaneException endedEarly(RuntimeException e) {
        return new ControlPlaneException(
                Kind.UNREACHABLE, "the agent at " + path + " ended during the hello: " + e.getMessage());
    }

    private ControlPlaneException silent() {
        return new ControlPlaneException(
                Kind.UNREACHABLE, "the agent at " + path + " has not answered within " + patience + "; is it stopped?");
    }

    private void listen(CompletableFuture<TenantSession> reply) {
        TenantSession made;
        try {
            made = receiveReply();
        } catch (RuntimeException | Error e) {
            reply.completeExceptionally(e);
            return;
        }
        if (reply.complete(made)) {
            made.listen();
        } else {
            made.close();
        }
    }

    private TenantSession receiveReply() {
        Message answer = socket.receive(patience.timeLeft()).orElseThrow(this::silent);
        try {
            if (answer.isEnd()) {
                throw new IllegalArgumentException("the agent has closed the connection");
            }
            SessionMessage reply = SessionRequests.judge(SessionMessage.read(answer.bytes()));
            if (reply.version() != SessionLayout.VERSION || answer.fds().length != 1) {
                throw new ControlPlaneException(
                        Kind.REFUSED,
                        "the agent at " + path + " speaks version " + reply.version() + ", this process version "
                                + SessionLayout.VERSION + "; update the older side");
            }
            try (SharedFile file = answer.adopt(0)) {
                return TenantSession.of(socket, reply.body(), file);
            }
        } finally {
            answer.closeFds();
        }
    }
}
