package dev.rackcall.verbs.soft.wire;

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
 * One TCP connection between two software devices. One thread at a time sends: a thread that posts, one that polls, or
 * the event loop. A thread that is already sending also sends the requests that others add ({@link #move}). Without TLS
 * the sending thread writes to the socket itself, so a small request costs no thread switch; the event loop writes what
 * the socket does not take. Incoming traffic is read under a lock by the event loop or by a busily polling thread.
 */
public abstract class Link {
    private static final Logger LOG = LoggerFactory.getLogger(Link.class);
    /** How long a peer may take from the connection to its hello. */
    protected static final long HELLO_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final Links links;
    private final AtomicInteger wanted = new AtomicInteger();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final SendBuffer outgoing;
    private final Incoming incoming;
    private volatile boolean sendable;
    /** Whether the event loop writes what {@link #outgoing} contains. */
    private volatile boolean handedOver;

    private volatile boolean direct;
    /** From the start of the TCP connection; {@link #channel} follows once TLS is established, too. */
    private volatile LinkChannel attached;

    private volatile LinkChannel channel;
    private volatile byte[] peerKey = GidProof.noKey();
    private volatile String ending = "";

    /** The incoming half calls back only once the link is connected. */
    @SuppressWarnings("this-escape")
    protected Link(Links links) {
        this.links = links;
        outgoing = new SendBuffer(links.buffers());
        incoming = new Incoming(this, links.buffers());
    }

    public boolean isEnded() {
        return ended.get();
    }

    LinkChannel channel() {
        return channel;
    }

    public Incoming incoming() {
        return incoming;
    }

    /** The public key of the peer's certificate; empty without TLS. */
    protected byte[] peerKey() {
        return peerKey;
    }

    /** Why the link has ended; empty while it has not. */
    protected String ending() {
        return ending;
    }

    /** The link's TCP connection, which ends with the link even before TLS is established. */
    void attach(LinkChannel newChannel) {
        attached = newChannel;
        if (isEnded()) {
            newChannel.close().addListener(LinkChannel::logFailure);
        }
    }

    /**
     * The TCP connection (and TLS) is established; the hellos follow. On the event loop.
     *
     * @param key the public key of the peer's certificate; empty without TLS
     */
    void connected(LinkChannel newChannel, boolean plain, byte[] key) {
        // Not before: a link that is never connected would not give the memory back.
        incoming.begin();
        peerKey = key;
        channel = newChannel;
        direct = plain;
        if (plain) {
            newChannel.readBy(() -> incoming.receiveReady(newChannel));
        }
        if (isEnded()) {
            // It ended while it was being established.
            newChannel.close().addListener(LinkChannel::logFailure);
            return;
        }
        established();
    }

    /** Ends the link unless the peer's hello arrives in time. */
    protected void expectHello() {
        links.later(this::expireHello, HELLO_NANOS);
    }

    /** Ends the link if the peer's hello has not arrived. */
    protected void expireHello() {
        if (!incoming.hasHello()) {
            fail("no hello within " + TimeUnit.NANOSECONDS.toSeconds(HELLO_NANOS) + " s");
        }
    }

    /** The link is established. The connecting side sends its hello. */
    protected abstract void established();

    /** Handles the other side's hello. */
    protected abstract void hello(MemorySegment hello, long at) throws WireViolation;

    /** Handles one complete frame. */
    protected abstract void frame(MemorySegment memory, long at, int length) throws WireViolation;

    /** The smallest valid length of a frame from the other side. */
    protected abstract int smallestFrame();

    /** Whether incoming frames must wait because their answers have no room. */
    protected abstract boolean isCongested();

    /** Adds frames to the buffer until it is full or nothing is left to send. */
    protected abstract void fill(SendBuffer out);

    /** Called when the link has ended. */
    protected abstract void over();

    /** Sends a hello; frames follow only after it has left. */
    protected void send(ByteBuf hello, boolean thenSendable) {
        channel.writeAndFlush(hello).addListener(sent -> {
            if (sent.isSuccess() && thenSendable) {
                becomeSendable();
            }
        });
    }

    /** The peer is accepted: frames follow in both directions. */
    protected void becomeSendable() {
        sendable = true;
        links.opened(this);
        move();
    }

    /** Sends pending frames, or tells the thread that already sends to do so. Never called with a monitor held. */
    public void move() {
        if (wanted.getAndIncrement() != 0) {
            return;
        }
        int seen = 1;
        do {
            try {
                moveAll();
            } catch (InternalError e) {
                failed(e);
            }
            seen = wanted.addAndGet(-seen);
        } while (seen != 0);
    }

    private void moveAll() {
        while (sendable && !ended.get()) {
            fill(outgoing);
            if (outgoing.isEmpty()) {
                return;
            }
            try {
                if (direct) {
                    channel.write(outgoing.toWrite());
                    if (!outgoing.toWrite().hasRemaining()) {
                        outgoing.clear();
                        continue;
                    }
                }
            } catch (IOException e) {
                end("writing failed: " + e);
                break;
            }
            handOver();
        }
        if (ended.get() && !handedOver) {
            outgoing.release();
        }
    }

    /** Lets the event loop write the rest; until then nothing else is sent. */
    private void handOver() {
        sendable = false;
        handedOver = true;
        channel.writeAndFlush(Unpooled.wrappedBuffer(outgoing.toWrite())).addListener(sent -> {
            outgoing.clear();
            handedOver = false;
            if (sent.isSuccess()) {
                sendable = true;
            }
            move();
        });
    }

    /** Reads unless another thread does. Returns whether anything was received. Called by a polling thread. */
    boolean poll() {
        if (!direct || ended.get() || !incoming.hasHello()) {
            return false;
        }
        int came = incoming.tryReceive(channel);
        if (came < 0) {
            end("closed by the peer");
        }
        return came > 0;
    }

    /** Incoming frames need not wait any longer. On the event loop. */
    void relieved() {
        incoming.resume(channel, direct);
    }

    /** Ends the link for a reason that an operator should see. */
    protected void fail(String reason) {
        if (!isEnded()) {
            FailureLog.warn(this, reason);
        }
        end(reason);
    }

    /**
     * Ends the link after a violation by the peer, or after an access to missing memory that a frame names. In the
     * second case an unknown part of the frame has taken effect. Other links continue, and so does the thread, which
     * may be an agent's thread for all its tenants.
     */
    void failed(Throwable cause) {
        fail(
                cause instanceof WireViolation
                        ? "closing the link of a peer that breaks the protocol: " + cause.getMessage()
                        : "memory that it uses is missing (was a file cut?): " + cause);
    }

    /** Ends the link and reports it to the queue pairs that use it. Any thread, once. */
    public void end(String reason) {
        if (!ended.compareAndSet(false, true)) {
            return;
        }
        ending = reason;
        LOG.debug("{}: {}", this, reason);
        LinkChannel current = attached;
        if (current != null) {
            current.close().addListener(LinkChannel::logFailure);
        }
        links.ended(this);
        over();
        // Gives the outgoing buffer back, unless another thread is sending, which then does.
        move();
    }
}
