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

/** What a tenant asks of its agent's process over the session's socket: memory regions. Each question has a number, by which its answer is known. Any thread may use it. */
final class SessionRequests {
    /** What one life of the agent has made of a file. */
    record Registered(long address, int localKey, int remoteKey) {}

    private static final long PAUSE_NANOS = 1_000_000;
    /** Bytes before the local key in the answer to REGISTER: address and length. */
    private static final int KEY_BEHIND = 2 * Long.BYTES;

    private final UnixSocket socket;
    private final AgentLife life;
    private final AtomicLong numbers = new AtomicLong();
    /** SessionRequests that are not answered yet, whether or not anybody waits for the answers. */
    private final Map<Long, CompletableFuture<SessionMessage>> asked = new ConcurrentHashMap<>();

    private final Unsent unsaid = new Unsent();

    SessionRequests(UnixSocket socket, AgentLife life) {
        this.socket = socket;
        this.life = life;
    }

    /**
     * Has the agent map all of a file and register that.
     *
     * @throws ControlPlaneException UNREACHABLE if it does not answer in time, or what it says. What it registers all the same is given back
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

    /** Nobody uses that region any more, and nobody waits until the agent has let go of it. It hears that before the next question. */
    void deregister(int localKey) {
        byte[] message = SessionMessage.of(
                        SessionMessage.DEREGISTER,
                        numbers.incrementAndGet(),
                        SessionMessage.newBody().putInt(localKey).flip())
                .toBytes();
        unsaid.say(() -> say(message));
    }

    /** Returns whether that is done with: said, or of a session that is over. */
    private boolean say(byte[] message) {
        try {
            socket.send(message, Duration.ZERO);
            return true;
        } catch (OsException e) {
            // Otherwise the peer is gone, which the thread that listens hears, too.
            return e.errno() != Errno.EAGAIN || life.isOver();
        } catch (IllegalStateException closed) {
            // With the session the agent lets go of all its regions.
            return true;
        }
    }

    /** Says what had no room when it was to be said. */
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

    /** First, since the agent may have no room for more until it has heard that. */
    private void sayWhatIsUnsaid(Patience patience) {
        while (!unsaid.sayAll() && !patience.isOver()) {
            if (Thread.currentThread().isInterrupted()) {
                // It would not park, but spin for all its time.
                throw Patience.interrupted("the agent process " + life.pid() + " was to listen");
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    private SessionMessage await(int kind, CompletableFuture<SessionMessage> answer, Patience patience) {
        try {
            return patience.await(answer, "the agent process " + life.pid() + " was to answer");
        } catch (CancellationException e) {
            throw life.ended();
        } catch (ExecutionException e) {
            throw new IllegalStateException("nobody lets an answer fail", e);
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
                : new ControlPlaneException(Kind.UNREACHABLE, life.obituary() + " (" + e.getMessage() + ")");
    }

    /** Nobody waits for that answer any more; the agent does what it was asked for all the same. Now, if it has just answered. */
    private void abandon(int kind, CompletableFuture<SessionMessage> answer) {
        if (kind == SessionMessage.REGISTER) {
            CompletableFuture<Void> _ = answer.thenAccept(this::giveBackOrphan);
        }
    }

    /** What was registered for somebody who had given up before: nobody else knows of it, and it would stay as long as this session. */
    private void giveBackOrphan(SessionMessage answer) {
        if (answer.kind() == SessionMessage.ANSWER) {
            deregister(answer.body().getInt(KEY_BEHIND));
        }
    }

    /** The agent has answered something. */
    void heard(SessionMessage answer) {
        Optional.ofNullable(asked.remove(answer.number())).ifPresent(waiting -> waiting.complete(answer));
    }

    /** Nobody is answered any more; the life is over. */
    void end() {
        // The volatile write of that end, then this look; who asks enters its question, and then looks whether it is
        // over.
        asked.values().forEach(answer -> answer.cancel(false));
        asked.clear();
    }

    /** @throws ControlPlaneException if it is a refusal: with its kind and text */
    static SessionMessage judge(SessionMessage answer) {
        if (answer.kind() == SessionMessage.REFUSAL) {
            Kind kind = Kind.values()[answer.body().getInt()];
            throw new ControlPlaneException(kind, "the agent process refuses: " + answer.text());
        }
        return answer;
    }
}
