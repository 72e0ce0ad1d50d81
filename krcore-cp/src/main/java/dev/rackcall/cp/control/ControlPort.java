package dev.rackcall.cp.control;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.VerbsException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Requests and replies between hosts, for rare operations. A request is sent again, with growing pauses, until its
 * reply arrives. Any thread may send requests; one thread replies.
 */
public final class ControlPort implements AutoCloseable {
    /** Replies to control messages. */
    @FunctionalInterface
    public interface Handler {
        /**
         * Makes the reply, on the control port's thread. A request may arrive twice, since its reply may get lost;
         * handling it twice must be harmless.
         *
         * @param operation a number of {@link ControlMessage}
         * @param sender the device that asks; a software device has checked that it does
         * @param body in the machine's byte order; its position moves
         * @throws ControlPlaneException to refuse the request; the requester gets the message
         */
        byte[] answer(int operation, Gid sender, ByteBuffer body);
    }

    private static final Logger LOG = LoggerFactory.getLogger(ControlPort.class);
    private static final long RESEND_NANOS = 50_000_000;
    private static final Duration TICK = Duration.ofMillis(50);
    private static final int MAX_TEXT = 400;

    private final HostDevice end;
    private final ControlDatagrams datagrams;
    private final Handler handler;
    private final Runnable tick;
    private final SecureRandom random = new SecureRandom();
    private final Map<Long, BlockingQueue<ControlMessage>> asked = new ConcurrentHashMap<>();
    private final Thread thread;
    private volatile boolean closed;

    /** @param tick runs periodically on the port's thread */
    public ControlPort(HostDevice end, String name, Handler handler, Runnable tick) {
        this.end = end;
        datagrams = new ControlDatagrams(end);
        this.handler = handler;
        this.tick = tick;
        thread = Thread.ofPlatform().daemon().name("rackcall-control-" + name).unstarted(this::run);
        end.keep(this);
    }

    /** Starts replying. */
    public void start() {
        thread.start();
    }

    public ControlAddress address() {
        return datagrams.address();
    }

    /**
     * Sends a request and waits for the reply.
     *
     * @return the reply's body, in the machine's byte order
     * @throws ControlPlaneException UNREACHABLE after this time, or at once if the device's port is down; REFUSED if
     *     the peer refuses
     */
    public ByteBuffer ask(ControlAddress whom, int operation, byte[] body, Duration atMost) {
        requireUp(whom);
        long id = random.nextLong();
        BlockingQueue<ControlMessage> answers = new ArrayBlockingQueue<>(1);
        asked.put(id, answers);
        try {
            ControlMessage question =
                    new ControlMessage(ControlMessage.VERSION, operation, id, address(), ByteBuffer.wrap(body));
            long start = System.nanoTime();
            long pause = RESEND_NANOS;
            for (long left = atMost.toNanos(); !closed && left > 0; left = atMost.toNanos() - elapsed(start)) {
                datagrams.send(whom, question);
                ControlMessage answer = answers.poll(Math.min(pause, left), TimeUnit.NANOSECONDS);
                pause *= 2;
                if (answer != null) {
                    return judge(whom, answer);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            asked.remove(id);
        }
        throw new ControlPlaneException(
                Kind.UNREACHABLE,
                whom + " has not answered within " + atMost.toMillis()
                        + " ms; check that its process lives and that the directory still names it");
    }

    private void requireUp(ControlAddress whom) {
        try {
            end.requireUp();
        } catch (VerbsException e) {
            throw new ControlPlaneException(Kind.UNREACHABLE, whom + " cannot be reached from here: " + e.getMessage());
        }
    }

    /** Sends a message once, without waiting for a reply; it may get lost. */
    void tell(ControlAddress whom, int operation, byte[] body) {
        if (!closed) {
            datagrams.send(
                    whom,
                    new ControlMessage(
                            ControlMessage.VERSION, operation, random.nextLong(), address(), ByteBuffer.wrap(body)));
        }
    }

    private static long elapsed(long start) {
        return System.nanoTime() - start;
    }

    private static ByteBuffer judge(ControlAddress whom, ControlMessage answer) {
        if (answer.kind() == ControlMessage.REFUSAL) {
            throw new ControlPlaneException(
                    Kind.REFUSED, whom + " refuses: " + StandardCharsets.UTF_8.decode(answer.content()));
        }
        return answer.content();
    }

    private void run() {
        while (!closed) {
            try {
                datagrams.receive(TICK, this::take);
                tick.run();
            } catch (RuntimeException e) {
                if (!closed) {
                    LOG.warn("control port {} continues after a failure", address(), e);
                }
            }
        }
    }

    private void take(ControlMessage message) {
        if (message.isReply()) {
            BlockingQueue<ControlMessage> waiting = asked.get(message.id());
            if (waiting != null && !waiting.offer(message)) {
                // The second reply to a request that was sent twice.
                return;
            }
        } else {
            answer(message);
        }
    }

    private void answer(ControlMessage question) {
        int kind = ControlMessage.ANSWER;
        byte[] body;
        try {
            if (question.version() != ControlMessage.VERSION) {
                throw new ControlPlaneException(
                        Kind.REFUSED,
                        "it speaks version " + ControlMessage.VERSION + " of the control protocol, not "
                                + question.version() + "; update the older side");
            }
            body = handler.answer(question.kind(), question.from().gid(), question.content());
        } catch (ControlPlaneException | VerbsException | IllegalArgumentException | BufferUnderflowException e) {
            kind = ControlMessage.REFUSAL;
            body = text(String.valueOf(e.getMessage()));
        }
        datagrams.send(
                question.from(),
                new ControlMessage(ControlMessage.VERSION, kind, question.id(), address(), ByteBuffer.wrap(body)));
    }

    private static byte[] text(String message) {
        byte[] bytes = message.getBytes(StandardCharsets.UTF_8);
        return bytes.length <= MAX_TEXT ? bytes : Arrays.copyOf(bytes, MAX_TEXT);
    }

    /** Ends the thread. Pending requests fail. */
    @Override
    public void close() {
        closed = true;
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
