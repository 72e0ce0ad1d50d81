package dev.rackcall.verbs.soft;

import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The incoming half of a connection: whoever has the lock reads and handles, so that frames are handled in order, whether the event loop or a
 * polling thread reads.
 */
final class Incoming {
    private static final int READS_AT_A_TIME = 8;

    private final Link link;
    private final ReentrantLock receiving = new ReentrantLock();
    private final ArrayDeque<ByteBuf> decrypted = new ArrayDeque<>();
    private Inbox inbox;
    private volatile boolean greeted;

    Incoming(Link link) {
        this.link = link;
    }

    /** The connection stands; bytes may come. */
    void open() {
        whileNotReading(() -> inbox = new Inbox());
    }

    boolean isGreeted() {
        return greeted;
    }

    /**
     * The socket has something to read. On the event loop.
     *
     * @return false at its end
     */
    boolean receiveReady(LinkChannel channel) {
        receiving.lock();
        try {
            return receive(channel) >= 0;
        } finally {
            receiving.unlock();
        }
    }

    /** Reads if nobody else does; returns the number of bytes, negative at the end. */
    int tryReceive(LinkChannel channel) {
        if (!receiving.tryLock()) {
            return 0;
        }
        try {
            return receive(channel);
        } finally {
            receiving.unlock();
        }
    }

    /** Reads and handles; returns the number of bytes, negative at the end. */
    private int receive(LinkChannel channel) {
        int total = 0;
        boolean handled = false;
        try {
            handled = handleFrames();
            for (int i = 0; i < READS_AT_A_TIME && !link.interest().isCongested(); i++) {
                int count = inbox.read(channel);
                if (count <= 0) {
                    total = count < 0 ? -1 : total;
                    break;
                }
                total += count;
                handled |= handleFrames();
            }
        } catch (IOException e) {
            link.end("reading failed: " + e);
            return -1;
        } catch (ProtocolException e) {
            link.violated(e);
            return -1;
        } catch (InternalError e) {
            link.faulted(e);
            return -1;
        }
        if (handled) {
            link.afterFrames();
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
            while (!decrypted.isEmpty() && !link.interest().isCongested()) {
                ByteBuf first = decrypted.element();
                inbox.take(first);
                if (!first.isReadable()) {
                    decrypted.remove().release();
                }
                handled |= handleFrames();
            }
        } catch (ProtocolException e) {
            link.violated(e);
            return;
        } catch (InternalError e) {
            link.faulted(e);
            return;
        }
        if (handled) {
            link.afterFrames();
        }
    }

    private boolean handleFrames() throws ProtocolException {
        boolean handled = false;
        if (!greeted && inbox.available() >= FrameLayout.GREETING_BYTES) {
            link.greeted(inbox.memory(), inbox.position());
            greeted = true;
            inbox.consume(FrameLayout.GREETING_BYTES);
        }
        while (greeted && inbox.available() >= Integer.BYTES && !link.isCongested()) {
            int length = FrameLayout.length(inbox.memory(), inbox.position());
            if (length < link.smallestFrame() || length > FrameLayout.MAX_FRAME) {
                throw new ProtocolException("a frame of " + Integer.toUnsignedLong(length) + " bytes; allowed are "
                        + link.smallestFrame() + " to " + FrameLayout.MAX_FRAME);
            }
            if (inbox.available() < length) {
                break;
            }
            link.frame(inbox.memory(), inbox.position(), length);
            inbox.consume(length);
            handled = true;
        }
        if (link.isCongested()) {
            link.interest().congested();
        }
        inbox.tidy();
        return handled;
    }

    /** Goes on after a pause. On the event loop. */
    void resume(LinkChannel channel, boolean direct) {
        whileNotReading(() -> {
            if (direct) {
                receive(channel);
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
}
