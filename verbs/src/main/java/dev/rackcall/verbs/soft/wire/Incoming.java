package dev.rackcall.verbs.soft.wire;

import dev.rackcall.verbs.soft.wire.BufferPool.Block;
import io.netty.buffer.ByteBuf;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The incoming half of a link. The thread that holds the lock reads and handles frames, so they are handled in order
 * whether the event loop or a polling thread reads. The event loop does not read while a thread polls busily, nor while
 * the ring of answers is full.
 */
public final class Incoming {
    private static final int READS_AT_A_TIME = 8;

    private final Link link;
    private final ReentrantLock receiving = new ReentrantLock();
    private final ArrayDeque<ByteBuf> decrypted = new ArrayDeque<>();
    private final ReceiveBuffer buffer;
    private volatile boolean helloCame;
    /** Whether a thread polls busily. Guarded by the monitor, as are the changes of {@link #congested}. */
    private boolean polled;

    private volatile boolean congested;

    Incoming(Link link, BufferPool pool) {
        this.link = link;
        buffer = new ReceiveBuffer(pool);
    }

    /** The connection is established; a hello may arrive. */
    void begin() {
        whileNotReading(buffer::begin);
    }

    /** The peer is accepted; frames may arrive. Until then there is room for its hello only. */
    public void open() {
        whileNotReading(buffer::open);
    }

    boolean hasHello() {
        return helloCame;
    }

    /**
     * The socket is readable. On the event loop.
     *
     * @return false at the end of the connection
     */
    boolean receiveReady(LinkChannel channel) {
        receiving.lock();
        try {
            return receive(channel) >= 0;
        } finally {
            receiving.unlock();
        }
    }

    /** Reads unless another thread does; returns the number of bytes, negative at the end. */
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
        if (buffer.isClosed()) {
            return -1;
        }
        try {
            handled = handleFrames();
            for (int i = 0; i < READS_AT_A_TIME && !congested && !link.isEnded(); i++) {
                int count = buffer.read(channel);
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
        } catch (WireViolation | InternalError e) {
            link.failed(e);
            return -1;
        }
        if (handled) {
            link.move();
        }
        return total;
    }

    /** Takes ownership of bytes that the pipeline has decrypted (TLS). On the event loop. */
    void received(ByteBuf bytes) {
        whileNotReading(() -> {
            if (link.isEnded()) {
                bytes.release();
                return;
            }
            decrypted.add(bytes);
            handleDecrypted();
        });
    }

    private void handleDecrypted() {
        boolean handled = false;
        if (buffer.isClosed()) {
            return;
        }
        try {
            handled = handleFrames();
            while (!decrypted.isEmpty() && !congested && !link.isEnded()) {
                ByteBuf first = decrypted.element();
                buffer.take(first);
                if (!first.isReadable()) {
                    decrypted.remove().release();
                }
                handled |= handleFrames();
            }
        } catch (WireViolation | InternalError e) {
            link.failed(e);
            return;
        }
        if (handled) {
            link.move();
        }
    }

    private boolean handleFrames() throws WireViolation {
        boolean handled = false;
        if (!helloCame && buffer.available() >= FrameLayout.HELLO_BYTES) {
            link.hello(buffer.memory(), buffer.position());
            helloCame = true;
            buffer.consume(FrameLayout.HELLO_BYTES);
            if (link.isEnded()) {
                // The peer was refused, and what follows its hello does not count.
                return false;
            }
        }
        int wanted = Integer.BYTES;
        while (helloCame && buffer.available() >= Integer.BYTES && !link.isCongested()) {
            int length = FrameLayout.length(buffer.memory(), buffer.position());
            if (length < link.smallestFrame() || length > FrameLayout.MAX_FRAME) {
                throw new WireViolation("a frame of " + Integer.toUnsignedLong(length) + " bytes; allowed are "
                        + link.smallestFrame() + " to " + FrameLayout.MAX_FRAME);
            }
            if (buffer.available() < length) {
                wanted = length;
                break;
            }
            link.frame(buffer.memory(), buffer.position(), length);
            buffer.consume(length);
            handled = true;
        }
        if (link.isCongested()) {
            congest();
        }
        buffer.tidy(wanted);
        return handled;
    }

    /** Continues after a pause. On the event loop. */
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
    public void whileNotReading(Runnable task) {
        receiving.lock();
        try {
            task.run();
        } finally {
            receiving.unlock();
        }
    }

    /** The pipeline is closed: releases bytes that were not handled, and the buffer. On the event loop. */
    void discard() {
        whileNotReading(() -> {
            decrypted.forEach(ByteBuf::release);
            decrypted.clear();
            buffer.release();
        });
    }

    // ---- whether the event loop reads

    /** A polling thread has started or stopped reading. */
    synchronized void polled(boolean now) {
        if (polled != now) {
            polled = now;
            apply();
        }
    }

    /** The ring of answers is full: nothing is read until it has room. */
    private void congest() {
        congested(true);
        // The answers may have left before the mark was set; then no other thread clears it.
        if (!link.isCongested()) {
            congested(false);
        }
    }

    /** The ring has room again: reads what is pending. Called by the thread that sends. */
    public void relieved() {
        if (congested) {
            link.channel().eventLoop().execute(() -> {
                congested(false);
                link.relieved();
            });
        }
    }

    private synchronized void congested(boolean now) {
        if (congested != now) {
            congested = now;
            apply();
        }
    }

    private void apply() {
        link.channel().config().setAutoRead(!polled && !congested);
    }

    /** Received bytes that are not handled yet. Used by one thread at a time. */
    private static final class ReceiveBuffer {
        private final BufferPool pool;
        /** Null before the connection is established, and when released. */
        private Block block;

        private int start;
        private int end;

        ReceiveBuffer(BufferPool pool) {
            this.pool = pool;
        }

        void begin() {
            block = pool.take(BufferPool.TINY);
        }

        void open() {
            if (block != null) {
                replace(BufferPool.SMALL);
            }
        }

        boolean isClosed() {
            return block == null;
        }

        void release() {
            if (block != null) {
                pool.giveBack(block);
                block = null;
            }
        }

        MemorySegment memory() {
            return block.memory();
        }

        /** Position of the first byte that is not handled. */
        int position() {
            return start;
        }

        int available() {
            return end - start;
        }

        /** Returns the number of bytes read; negative at the end of the link. */
        int read(LinkChannel channel) throws IOException {
            int count = channel.read(block.buffer().limit(block.bytes()).position(end));
            end += Math.max(0, count);
            return count;
        }

        /** Copies as many bytes as fit. */
        void take(ByteBuf bytes) {
            int count = Math.min(bytes.readableBytes(), block.bytes() - end);
            bytes.readBytes(block.buffer().limit(end + count).position(end));
            end += count;
        }

        void consume(int bytes) {
            start += bytes;
        }

        /** Makes room for the frame of this many bytes of which only a part is here, or for the length of the next. */
        void tidy(int wanted) {
            boolean isFull = end == block.bytes() && block.bytes() == BufferPool.SMALL;
            if (start == end) {
                start = 0;
                end = 0;
            }
            if (isFull || wanted > block.bytes()) {
                // The peer sends more at a time than a small buffer takes.
                replace(BufferPool.LARGE);
            } else if (start + wanted > block.bytes()) {
                MemorySegment.copy(memory(), start, memory(), 0, end - start);
                end -= start;
                start = 0;
            }
        }

        private void replace(int bytes) {
            Block old = block;
            block = pool.take(bytes);
            MemorySegment.copy(old.memory(), start, block.memory(), 0, end - start);
            end -= start;
            start = 0;
            pool.giveBack(old);
        }
    }
}
