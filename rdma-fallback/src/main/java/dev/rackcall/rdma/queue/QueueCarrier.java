package dev.rackcall.rdma.queue;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.rdma.sending.Sending;
import dev.rackcall.rdma.sending.SendingCarrier;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.CarrierProvider.Memory;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One end of a connection over two virtual queues: one for what is written into the peer's memory, by {@link QueuePosting}, and one for messages, which end only when the peer's process takes them.
 * {@link Hearing} says what comes. The end of the peer's process shows by requests that fail; where nothing is posted a word is written now and then, to see.
 */
final class QueueCarrier extends SendingCarrier {
    private static final Logger LOG = LoggerFactory.getLogger(QueueCarrier.class);
    /** A look that moves a software device's traffic reads its sockets; as for queue pairs of a connection's own. */
    private static final int PAUSES_OF_MOVING = 8;
    /** A look takes a few reads of memory. */
    private static final int PAUSES_OF_LOOKING = 4;

    private final Exchange exchange;
    private final HostId host;
    private final QueueEnd end;
    private final QueuePosting posting;
    private final Hearing hearing = new Hearing();
    private final long number;
    private final Deque<AutoCloseable> made = new ArrayDeque<>();
    /** What a server has answered to this client, and with which kind of message. */
    private final CompletableFuture<Reply> reply = new CompletableFuture<>();

    private final AtomicBoolean beating = new AtomicBoolean();
    /** What the peer knows of sleepers here is not relied upon any longer. */
    private final AtomicBoolean forgets = new AtomicBoolean();

    /** How often the peer has rung. */
    private final AtomicLong heard = new AtomicLong();

    /** Of a client: as much as was ever seen of the server's clock, since all that comes is late. Written under the monitor. */
    private volatile long clockAhead = Long.MIN_VALUE;
    /** The server's last sign of life that was looked at. */
    private volatile long seenBeat;
    /** Written before it ends for that. */
    private volatile boolean saidGoodbye;
    /** Why, if it has said so. Written before {@link #saidGoodbye}. */
    private Optional<ControlPlaneException.Kind> farewell = Optional.empty();
    /** Written before the end is told. */
    private volatile boolean lacksSomething;

    /** A server's answer, and when it came ({@link System#nanoTime}). */
    record Reply(int kind, QueueGreeting greeting, long at) {}

    /**
     * An end that is not connected yet. It owns one use of the exchange only when it was made.
     *
     * @param memory of the connection
     * @param packetBytes length of what will be said in the greeting
     * @param host where the peer is
     * @param notePort where its process hears
     * @throws dev.rackcall.cp.ControlPlaneException if the host cannot be connected to, or the tenant may have no more
     */
    QueueCarrier(Exchange exchange, Memory memory, int packetBytes, HostId host, int notePort) {
        this.exchange = exchange;
        this.host = host;
        end = new QueueEnd(exchange.tenant(), memory, QueueGreeting.FIXED_BYTES + packetBytes);
        try {
            VirtualQueue queue = keep(exchange.connect(host));
            VirtualQueue notes = keep(exchange.connect(host));
            posting = new QueuePosting(exchange, this, end, queue, notes, notePort);
            number = exchange.add(this);
        } catch (RuntimeException | Error e) {
            closeQueues();
            throw e;
        }
    }

    private <T extends AutoCloseable> T keep(T part) {
        made.push(part);
        return part;
    }

    HostId host() {
        return host;
    }

    long number() {
        return number;
    }

    /** Where messages for it arrive at its process. */
    int port() {
        return exchange.port();
    }

    // ---- meeting

    /** Sends the greeting, which says where this end is. */
    void greet(int kind, long to, ByteBuffer packet) {
        QueueGreeting greeting = end.greeting(number, port(), packet);
        end.write(greeting, new QueueMessage(kind, to, 0));
        posting.greet(greeting.messageBytes());
    }

    /** Completes when a server has answered. */
    CompletableFuture<Reply> reply() {
        return reply;
    }

    /**
     * Again and again, as long as this end has its memory: the server's first sign of life is here much sooner than its greeting, which is fetched, and one of the later ones may come sooner than that. What is
     * late for long makes deadlines pass too early over there, for good if nobody looked again.
     */
    void lookAtClock() {
        long beat = end.beat();
        if (beat != seenBeat) {
            seenBeat = beat;
            isAhead(beat - System.nanoTime());
        }
    }

    private synchronized void isAhead(long atLeast) {
        clockAhead = Math.max(clockAhead, atLeast);
    }

    /**
     * Writes go to this peer from now on.
     *
     * @param ahead its clock less this one's, at least
     */
    void connect(QueueGreeting peer, long ahead) {
        isAhead(ahead);
        posting.connect(peer);
    }

    /** As {@link QueuePosting#probe}. */
    long probe() {
        return posting.probe();
    }

    /** As {@link QueuePosting#isDone}. */
    boolean isDone(long request) {
        return posting.isDone(request);
    }

    /** Whether the peer's process has taken all that it was told. */
    boolean isHeard() {
        return posting.isHeard();
    }

    @Override
    public long clockAhead() {
        return clockAhead;
    }

    @Override
    protected Sending sending() {
        return posting;
    }

    @Override
    protected String peer() {
        return host.toString();
    }

    // ---- delivering

    @Override
    public void start(Arrivals listener) {
        hearing.start(listener);
        // Only now: whoever ends it earlier finds nobody to tell.
        if (hasEnded()) {
            tellEnd();
        }
    }

    @Override
    public void look() {
        posting.look();
    }

    @Override
    public int pausesPerLook() {
        return posting.isMovedByLooks() ? PAUSES_OF_MOVING : PAUSES_OF_LOOKING;
    }

    @Override
    public void listen() {
        posting.listen(heard.get());
    }

    /** Whether the peer's processor has seen that somebody sleeps here, when that was said last. */
    boolean hasSeenListening() {
        return end.hasSeenListening();
    }

    // ---- threads of the exchange

    /** A message for this end, from its peer's host. */
    void hear(QueueMessage message, ByteBuffer rest) throws MalformedException {
        switch (message.kind()) {
            case QueueMessage.WELCOME, QueueMessage.REFUSAL ->
                reply.complete(new Reply(message.kind(), QueueGreeting.read(rest), System.nanoTime()));
            case QueueMessage.RING -> {
                heard.incrementAndGet();
                hearing.published();
            }
            case QueueMessage.TOLD -> {
                if (!hearing.told(message.value())) {
                    end("it tells more than it can have to tell");
                    tellEnd();
                }
            }
            case QueueMessage.BYE -> {
                farewell = Farewell.kind(message.value());
                saidGoodbye = true;
                end(farewell.map(kind -> "the peer has ended it: " + Farewell.describe(kind))
                        .orElse("it has said goodbye"));
                tellEnd();
            }
            default -> throw new MalformedException("it says hello to an end of another connection");
        }
    }

    /** Does what has to be done a little later; returns whether it is to be attended again. */
    boolean attend(long now) {
        if (posting.attend(now)) {
            hearing.published();
        }
        if (hasEnded()) {
            tellEnd();
        }
        return isAttended();
    }

    /** Whether the exchange's thread looks after it, since there is something to do a little later. */
    boolean isAttended() {
        return posting.isAttended();
    }

    /** Sleepers look for themselves, since a device may lose what should wake them. */
    void remind() {
        forgets.set(true);
        hearing.published();
    }

    /** Looks after the peer. */
    void beat() {
        if (!hasEnded() && !isClosed() && beating.compareAndSet(false, true)) {
            // It may wait for the peer's host, and others must not wait for that.
            Thread.ofVirtual().name("rackcall-queue-beat").start(() -> {
                try {
                    posting.beat(forgets.getAndSet(false));
                } finally {
                    beating.set(false);
                }
            });
        }
    }

    // ---- the end

    /** Whether the peer's process has ended it, in so many words. */
    boolean hasSaidGoodbye() {
        return saidGoodbye;
    }

    /** Whether this process hears no peers any more, whatever they do. */
    boolean isUnheard() {
        return exchange.isBroken();
    }

    /** What it has said of its reason. Only once it has said goodbye. */
    Optional<ControlPlaneException.Kind> farewell() {
        return saidGoodbye ? farewell : Optional.empty();
    }

    /** A peer that has said goodbye, and no more, is gone, and nothing else. */
    @Override
    public Optional<Status> endCause() {
        if (!hasEnded() || (saidGoodbye && farewell.isEmpty())) {
            return Optional.empty();
        }
        boolean wants = lacksSomething || farewell.isPresent();
        Status.Code code = wants ? Status.Code.RESOURCE_EXHAUSTED : Status.Code.UNAVAILABLE;
        return Optional.of(code.with("%s", whyEnded()));
    }

    /** This end lacks what the connection needs, which is about to end for that. */
    void lacksSomething() {
        lacksSomething = true;
    }

    @Override
    public void tellEnd() {
        hearing.ended();
    }

    @Override
    protected void closeParts() {
        hearing.close();
        exchange.remove(this);
        closeQueues();
        exchange.release();
    }

    /** Queues first, before the memory that their requests use. */
    private void closeQueues() {
        while (!made.isEmpty()) {
            try {
                made.pop().close();
            } catch (Exception e) {
                LOG.warn("a virtual queue to {} cannot be closed: {}", host, e.toString());
            }
        }
        end.close();
    }
}
