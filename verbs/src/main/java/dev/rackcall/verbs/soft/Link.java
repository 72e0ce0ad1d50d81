package dev.rackcall.verbs.soft;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.ReentrantLock;
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
    private static final int READS_AT_A_TIME = 8;
    private static final long GREETING_SECONDS = 5;

    private final SoftContext context;
    private final AtomicInteger wanted = new AtomicInteger();
    private final AtomicBoolean ended = new AtomicBoolean();
    private final ReentrantLock receiving = new ReentrantLock();
    private Outbox outbox;
    private Inbox inbox;
    private final ReadInterest interest = new ReadInterest(this);
    private final ArrayDeque<ByteBuf> decrypted = new ArrayDeque<>();
    private volatile boolean open;
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

    ReadInterest interest() {
        return interest;
    }

    /** The connection stands (and TLS is agreed): greetings follow. On the event loop. */
    void connected(LinkChannel newChannel, boolean plain) {
        // Not before: whoever connects and says nothing shall cost little. The volatile fields below publish them.
        outbox = new Outbox();
        inbox = new Inbox();
        channel = newChannel;
        direct = plain;
        if (plain) {
            newChannel.readInto(this);
        }
        context.later(
                () -> {
                    if (!sendable) {
                        end("no greeting within " + GREETING_SECONDS + " s");
                    }
                },
                TimeUnit.SECONDS.toNanos(GREETING_SECONDS));
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
            moveAll();
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
                end("writing failed: " + e.getMessage());
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

    /**
     * The socket has something to read. On the event loop.
     *
     * @return false at its end
     */
    boolean receiveReady() {
        receiving.lock();
        try {
            return receive() >= 0;
        } finally {
            receiving.unlock();
        }
    }

    /** Reads if nobody else does. Returns whether anything came. By a thread that polls. */
    boolean poll() {
        if (!direct || !open || ended.get() || !receiving.tryLock()) {
            return false;
        }
        int came;
        try {
            came = receive();
        } finally {
            receiving.unlock();
        }
        if (came < 0) {
            end("closed by the peer");
        }
        return came > 0;
    }

    /** Reads and handles; returns the number of bytes, negative at the end. */
    private int receive() {
        int total = 0;
        boolean handled = false;
        try {
            handled = handleFrames();
            for (int i = 0; i < READS_AT_A_TIME && !interest.isCongested(); i++) {
                int count = inbox.read(channel);
                if (count <= 0) {
                    total = count < 0 ? -1 : total;
                    break;
                }
                total += count;
                handled |= handleFrames();
            }
        } catch (IOException e) {
            end("reading failed: " + e.getMessage());
            return -1;
        } catch (ProtocolException e) {
            end("the peer broke the protocol: " + e.getMessage());
            return -1;
        }
        if (handled) {
            afterFrames();
        }
        return total;
    }

    /** Bytes that came by the pipeline (TLS); they become this link's. On the event loop. */
    void received(ByteBuf bytes) {
        whileNotReading(() -> {
            decrypted.add(bytes);
            handleDecrypted();
        });
    }

    private void handleDecrypted() {
        boolean handled = false;
        try {
            handled = handleFrames();
            while (!decrypted.isEmpty() && !interest.isCongested()) {
                ByteBuf first = decrypted.element();
                inbox.take(first);
                if (!first.isReadable()) {
                    decrypted.remove().release();
                }
                handled |= handleFrames();
            }
        } catch (ProtocolException e) {
            end("the peer broke the protocol: " + e.getMessage());
            return;
        }
        if (handled) {
            afterFrames();
        }
    }

    private boolean handleFrames() throws ProtocolException {
        boolean handled = false;
        if (!open && inbox.available() >= FrameLayout.GREETING_BYTES) {
            greeted(inbox.memory(), inbox.position());
            open = true;
            inbox.consume(FrameLayout.GREETING_BYTES);
        }
        while (open && inbox.available() >= Integer.BYTES && !isCongested()) {
            int length = FrameLayout.length(inbox.memory(), inbox.position());
            if (length < smallestFrame() || length > FrameLayout.MAX_FRAME) {
                throw new ProtocolException("a frame of " + Integer.toUnsignedLong(length) + " bytes; allowed are "
                        + smallestFrame() + " to " + FrameLayout.MAX_FRAME);
            }
            if (inbox.available() < length) {
                break;
            }
            frame(inbox.memory(), inbox.position(), length);
            inbox.consume(length);
            handled = true;
        }
        if (isCongested()) {
            interest.congested();
        }
        inbox.tidy();
        return handled;
    }

    /** Sends what the frames that came have set free or asked for. */
    abstract void afterFrames();

    /** Incoming frames need not wait any more. On the event loop. */
    void relieved() {
        whileNotReading(() -> {
            if (direct) {
                receive();
            } else {
                handleDecrypted();
            }
        });
    }

    /** Runs this while no thread reads the connection. */
    void whileNotReading(Runnable task) {
        receiving.lock();
        try {
            task.run();
        } finally {
            receiving.unlock();
        }
    }

    /** The pipeline is closed: what it gave and nobody handled is given back. On the event loop. */
    void discard() {
        whileNotReading(() -> {
            decrypted.forEach(ByteBuf::release);
            decrypted.clear();
        });
    }

    /** Ends the connection; who waits for it is told. Any thread, once. */
    void end(String reason) {
        if (!ended.compareAndSet(false, true)) {
            return;
        }
        LOG.info("{}: {}", this, reason);
        LinkChannel current = channel;
        if (current != null) {
            current.close().addListener(Network::logFailure);
        }
        context.linkEnded(this);
        over();
    }
}
