package dev.rackcall.rdma.queue;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.rdma.end.Ending;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Messages of one end to the peer's process, in order, over a virtual queue of their own. A message completes when the
 * peer's process has taken it, and WRITEs do not wait for that. A told number is sent only after all earlier requests
 * are done. Used with the carrier's lock.
 */
final class QueueMessages {
    private static final Logger LOG = LoggerFactory.getLogger(QueueMessages.class);
    /** The connection ends when this many messages wait for the peer's process. */
    private static final int MAX_WAITING = 4096;

    /** @param after the request of {@link dev.rackcall.rdma.end.PendingRequests} that must be done before it is sent */
    private record Pending(QueueMessage message, long after) {}

    private record PendingHello(QueueEnd end, int length) {}

    private final Ending ending;
    private final VirtualQueue queue;
    private int port;
    /** The peer's end; 0 until it is known. */
    private long number;

    private final WorkRequest request = WorkRequest.create(1, QueueMessage.BYTES);
    private final MemorySegment bytes = Arena.ofAuto().allocate(QueueMessage.BYTES);
    private final Completions done = Completions.create(8);
    private final Deque<Pending> waiting = new ArrayDeque<>();
    private Optional<PendingHello> hello = Optional.empty();
    private long pushed;
    private long taken;

    /** @param port where the peer's process receives messages */
    QueueMessages(Ending ending, VirtualQueue queue, int port) {
        this.ending = ending;
        this.queue = queue;
        this.port = port;
    }

    /** From now on, messages are sent to this end of the peer. */
    void to(QueueHello peer) {
        port = peer.port();
        number = peer.number();
    }

    /** Whether a message has not been sent or has not been taken yet. */
    boolean areUnderWay() {
        return hello.isPresent() || !waiting.isEmpty() || taken < pushed;
    }

    /** Whether the peer's process has taken all messages. */
    boolean areTaken() {
        return !areUnderWay();
    }

    /**
     * Sends this end's hello before all others. The peer's agent fetches a long one. The peer will write to both
     * regions of this end, so its agent learns them with the hello and need not look them up.
     */
    void hello(QueueEnd end, int length, long completed) {
        hello = Optional.of(new PendingHello(end, length));
        step(completed);
    }

    /**
     * Sends a message once request {@code after} is done.
     *
     * @param kind a constant of {@link QueueMessage}
     * @param completed the last request that is done
     */
    void add(int kind, long value, long after, long completed) {
        if (waiting.size() == MAX_WAITING) {
            ending.end("it has accepted none of " + MAX_WAITING + " messages");
            return;
        }
        waiting.add(new Pending(new QueueMessage(kind, number, value), after));
        step(completed);
    }

    /** Tells the peer which resource this side lacks, if that ends the connection. */
    void sayFarewell(RuntimeException cause, long completed) {
        long farewell = Farewell.value(cause);
        if (farewell == 0) {
            return;
        }
        try {
            add(QueueMessage.BYE, farewell, 0, completed);
        } catch (ControlPlaneException | VerbsException e) {
            LOG.debug("the peer is not told why its connection ends", e);
        }
    }

    /** Sends the messages that are due, and takes completions. */
    void step(long completed) {
        reap();
        if (hello.isPresent()) {
            if (!push(hello.get())) {
                return;
            }
            hello = Optional.empty();
        }
        while (!waiting.isEmpty()
                && waiting.peek().after() <= completed
                && !ending.hasEnded()
                && push(inline(waiting.peek().message()))) {
            waiting.poll();
        }
    }

    private WorkRequest inline(QueueMessage message) {
        ByteBuffer buffer = bytes.asByteBuffer();
        message.write(buffer);
        return request.sendWithImmediate(port).inline(bytes, 0, QueueMessage.BYTES);
    }

    private boolean push(PendingHello first) {
        QueueEnd end = first.end();
        WorkRequest message = request.sendWithImmediate(port)
                .from(end.words, QueueHello.WORDS_BYTES, first.length())
                .id(pushed + 1)
                .signaled();
        return isPushed(queue.push(message, end.region, end.words));
    }

    private boolean push(WorkRequest message) {
        return isPushed(queue.push(message.id(pushed + 1).signaled()));
    }

    private boolean isPushed(boolean isTaken) {
        pushed += isTaken ? 1 : 0;
        return isTaken;
    }

    private void reap() {
        int count;
        do {
            count = queue.pop(done);
            for (int i = 0; i < count; i++) {
                taken++;
                if (!done.isSuccess(i)) {
                    ending.end("a message ended with " + done.status(i) + ": "
                            + queue.failure().orElse("the queue does not say why"));
                }
            }
        } while (count == done.capacity());
    }
}
