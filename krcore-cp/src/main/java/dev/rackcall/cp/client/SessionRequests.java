package dev.rackcall.cp.client;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.session.SessionMessage;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * A tenant's requests to its agent process over the session's socket, which register and close memory regions. Each
 * request has a number that its reply repeats. Any thread may use it.
 */
final class SessionRequests {
    /** A region that one life of the agent has registered. */
    record Registered(long address, int localKey, int remoteKey) {}

    private static final long PAUSE_NANOS = 1_000_000;
    /** Bytes before the local key in the reply to REGISTER: address and length. */
    private static final int KEY_BEHIND = 2 * Long.BYTES;

    private final UnixSocket socket;
    private final AgentLife life;
    private final AtomicLong numbers = new AtomicLong();
    /** Requests without a reply, whether or not a thread waits. */
    private final Map<Long, CompletableFuture<SessionMessage>> asked = new ConcurrentHashMap<>();

    private final Unsent unsaid = new Unsent();

    SessionRequests(UnixSocket socket, AgentLife life) {
        this.socket = socket;
        this.life = life;
    }

    /**
     * Has the agent map and register a whole file.
     *
     * @throws ControlPlaneException UNREACHABLE if the agent does not reply in time; a region that it registers later
     *     is then closed. Or the agent's refusal
     */
    Registered register(SharedFile file, int rights, Patience patience) {
        ByteBuffer body = SessionMessage.newBody().putInt(rights).flip();
        ByteBuffer answer =
                ask(SessionMessage.REGISTER, body, patience, file.fd()).body();
        long address = answer.getLong();
        long length = answer.getLong();
        int localKey = answer.getInt();
        if (length != file.bytes()) {
            deregister(localKey);
            throw new ControlPlaneException(
                    Kind.REFUSED, "the agent has registered " + length + " bytes of " + file + ", not all");
        }
        return new Registered(address, localKey, answer.getInt());
    }

    /** Closes a region without waiting. The agent is notified before the next request. */
    void deregister(int localKey) {
        byte[] message = SessionMessage.of(
                        SessionMessage.DEREGISTER,
                        numbers.incrementAndGet(),
                        SessionMessage.newBody().putInt(localKey).flip())
                .toBytes();
        unsaid.say(() -> say(message));
    }

    /** Returns whether no retry is needed: the message was sent, or the session is over. */
    private boolean say(byte[] message) {
        try {
            socket.send(message, Duration.ZERO);
            return true;
        } catch (OsException e) {
            // With any other error the peer is gone, which the listening thread notices.
            return e.errno() != Errno.EAGAIN || life.isOver();
        } catch (IllegalStateException closed) {
            // The agent releases all regions with the session.
            return true;
        }
    }

    /** Retries messages that had no room. */
    void goOn() {
        unsaid.sayAll();
    }

    private SessionMessage ask(int kind, ByteBuffer body, Patience patience, int... fds) {
        long number = numbers.incrementAndGet();
        CompletableFuture<SessionMessage> answer = new CompletableFuture<>();
        asked.put(number, answer);
        try {
            sayWhatIsUnsaid(patience);
            socket.send(SessionMessage.of(kind, number, body).toBytes(), patience.timeLeft(), fds);
        } catch (ControlPlaneException e) {
            asked.remove(number);
            throw e;
        } catch (OsException | IllegalStateException e) {
            asked.remove(number);
            throw unheard(e, patience);
        }
        // Partner: end.
        if (life.isOver()) {
            answer.cancel(false);
        }
        return judge(await(kind, answer, patience));
    }

    /** Sends delayed messages first, since the agent may lack room until it has closed their regions. */
    private void sayWhatIsUnsaid(Patience patience) {
        while (!unsaid.sayAll() && !patience.isOver()) {
            if (Thread.currentThread().isInterrupted()) {
                // An interrupted thread would spin instead of parking.
                throw Patience.interrupted("waiting for the agent process " + life.pid());
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private SessionMessage await(int kind, CompletableFuture<SessionMessage> answer, Patience patience) {
        try {
            return patience.await(answer, "waiting for the agent process " + life.pid());
        } catch (CancellationException e) {
            throw life.ended();
        } catch (ExecutionException e) {
            throw new IllegalStateException("replies do not fail", e);
        } catch (TimeoutException e) {
            abandon(kind, answer);
            throw life.silent(patience);
        } catch (ControlPlaneException e) {
            abandon(kind, answer);
            throw e;
        }
    }

    private ControlPlaneException unheard(RuntimeException e, Patience patience) {
        return e instanceof OsException refused && refused.errno() == Errno.EAGAIN
                ? life.silent(patience)
                : new ControlPlaneException(Kind.UNREACHABLE, life.endMessage() + " (" + e.getMessage() + ")");
    }

    /** Abandons a request that the agent may still carry out: its reply then closes the region. */
    private void abandon(int kind, CompletableFuture<SessionMessage> answer) {
        if (kind == SessionMessage.REGISTER) {
            CompletableFuture<Void> _ = answer.thenAccept(this::giveBackOrphan);
        }
    }

    /** Closes a region that no thread waits for; otherwise it would stay as long as the session. */
    private void giveBackOrphan(SessionMessage answer) {
        if (answer.kind() == SessionMessage.ANSWER) {
            deregister(answer.body().getInt(KEY_BEHIND));
        }
    }

    /** Handles a reply of the agent. */
    void heard(SessionMessage answer) {
        Optional.ofNullable(asked.remove(answer.number())).ifPresent(waiting -> waiting.complete(answer));
    }

    /** Fails all pending requests, since the life is over. */
    void end() {
        // The life's end (volatile) is written before this read, and a requester enters its request before it checks
        // for the end: at least one of them cancels the request.
        asked.values().forEach(answer -> answer.cancel(false));
        asked.clear();
    }

    /** @throws ControlPlaneException if it is a refusal, with its kind and text */
    static SessionMessage judge(SessionMessage answer) {
        if (answer.kind() == SessionMessage.REFUSAL) {
            Kind kind = Kind.values()[answer.body().getInt()];
            throw new ControlPlaneException(kind, "the agent process refuses: " + answer.text());
        }
        return answer;
    }
}
