package dev.rackcall.verbs.soft;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One TCP connection. Outgoing traffic is moved by one thread at a time, whichever comes first: a thread that posts, one that polls, or the
 * connection's event loop; the others only leave word ({@link #move}). Without TLS that thread writes to the socket itself, so that a small
 * request costs no thread switch; what the socket does not take goes by way of the event loop. Incoming traffic is read under a lock by the
 * event loop or by a thread that polls busily.
 */
abstract class Link {
    private static final Logger LOG = LoggerFactory.getLogger(Link.class);
    private static final long GREETING_SECONDS = 5;

    private final SoftContext context;
    private final AtomicInteger wanted = new AtomicInteger();
    private final AtomicBoolean ended = new AtomicBoolean();
    private Outbox outbox;
    private final ReadInterest interest = new ReadInterest(this);
    private final Incoming incoming = new Incoming(this);
    private volatile boolean sendable;
    private volatile boolean direct;
    private volatile LinkChannel channel;

    Link(SoftContext context) {
        this.context = context;
    }

    SoftContext context() {
        return context;
    }

    boolean isEnded() {
        return ended.get();
    }

    LinkChannel channel() {
        return channel;
    }

    Incoming incoming() {
        return incoming;
    }

    ReadInterest interest() {
        return interest;
    }

    /** The connection stands (and TLS is agreed): greetings follow. On the event loop. */
    void connected(LinkChannel newChannel, boolean plain) {
        // Not before: whoever connects and says nothing shall cost little. The volatile fields below publish them.
        outbox = new Outbox();
        incoming.open();
        channel = newChannel;
        direct = plain;
        if (plain) {
            newChannel.readInto(incoming);
        }
        context.later(
                () -> {
                    if (!incoming.isGreeted()) {
                        fail("no greeting within " + GREETING_SECONDS + " s");
                    }
                },
                TimeUnit.SECONDS.toNanos(GREETING_SECONDS));
        if (isEnded()) {
            // It was given up while it was being made.
            newChannel.close().addListener(Network::logFailure);
            return;
        }
        greet();
    }

    /** The side that connects greets first. */
    abstract void greet();

    /** Reads the other side's greeting. */
    abstract void greeted(MemorySegment greeting, long at) throws ProtocolException;

    /** One whole frame. */
    abstract void frame(MemorySegment memory, long at, int length) throws ProtocolException;

    /** Smallest length that a frame from the other side can have. */
    abstract int smallestFrame();

    /** Whether incoming frames must wait, because their answers have no room. */
    abstract boolean isCongested();

    /** Puts frames into the outbox until it is full or nothing is left. */
    abstract void fill(Outbox out);

    /** Sends what the frames that came have set free or asked for. */
    abstract void afterFrames();

    /** The connection is over. */
    abstract void over();

    /** Sends a greeting; whatever else follows only after it has left. */
    void send(ByteBuf greeting, boolean thenSendable) {
        channel.writeAndFlush(greeting).addListener(sent -> {
            if (sent.isSuccess() && thenSendable) {
                becomeSendable();
            }
        });
    }

    void becomeSendable() {
        sendable = true;
        context.linkOpened(this);
        move();
    }

    /** Moves outgoing traffic, or lets the thread know that does so already. Never called with a monitor held. */
    void move() {
        if (wanted.getAndIncrement() != 0) {
            return;
        }
        int seen = 1;
        do {
            try {
                moveAll();
            } catch (InternalError e) {
                faulted(e);
            }
            seen = wanted.addAndGet(-seen);
        } while (seen != 0);
    }

    private void moveAll() {
        while (sendable && !ended.get()) {
            fill(outbox);
            if (outbox.isEmpty()) {
                return;
            }
            try {
                if (direct) {
                    channel.write(outbox.toWrite());
                    if (!outbox.toWrite().hasRemaining()) {
                        outbox.clear();
                        continue;
                    }
                }
            } catch (IOException e) {
                end("writing failed: " + e);
                return;
            }
            handOver();
        }
    }

    /** Lets the event loop write what is left; meanwhile nothing else is sent. */
    private void handOver() {
        sendable = false;
        channel.writeAndFlush(Unpooled.wrappedBuffer(outbox.toWrite())).addListener(sent -> {
            outbox.clear();
            if (sent.isSuccess()) {
                sendable = true;
                move();
            }
        });
    }

    /** Reads if nobody else does. Returns whether anything came. By a thread that polls. */
    boolean poll() {
        if (!direct || ended.get() || !incoming.isGreeted()) {
            return false;
        }
        int came = incoming.tryReceive(channel);
        if (came < 0) {
            end("closed by the peer");
        }
        return came > 0;
    }

    /** Incoming frames need not wait any more. On the event loop. */
    void relieved() {
        incoming.resume(channel, direct);
    }

    /** It cannot be made or kept, for a reason that somebody should know. */
    void fail(String reason) {
        if (!isEnded()) {
            LOG.warn("{}: {}", this, reason);
        }
        end(reason);
    }

    /** The peer does what it may not: this connection ends, nobody else notices. */
    void violated(ProtocolException violation) {
        fail("cutting the peer off: " + violation.getMessage());
    }

    /**
     * Memory that a frame of this connection meant is not there, and nobody has caught that where it was touched. Nobody knows how far that frame has got: this connection ends, and neither
     * others nor the thread, which may be that of an agent for all its tenants.
     */
    void faulted(InternalError fault) {
        fail("memory that it uses is not there (was a file cut?): " + fault);
    }

    /** Ends the connection; who waits for it is told. Any thread, once. */
    void end(String reason) {
        if (!ended.compareAndSet(false, true)) {
            return;
        }
        LOG.debug("{}: {}", this, reason);
        LinkChannel current = channel;
        if (current != null) {
            current.close().addListener(Network::logFailure);
        }
        context.linkEnded(this);
        over();
    }
}
