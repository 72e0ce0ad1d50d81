package dev.rackcall.grpc.wire;

import dev.rackcall.grpc.wire.PipeLayout.Side;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The sending half of a connection. Any thread sends: it writes into the pipe under a short lock if there is room, and
 * otherwise leaves the frames to the connection's loop, which sends them in turn.
 */
public final class PipeSender {
    /** Metadata of one frame that a peer may send, before any limit of gRPC. */
    public static final int MAX_METADATA_BYTES = 1 << 20;

    /** Answers to pings that may wait for room in the pipe. */
    private static final int MOST_CONTROLS = 64;

    /** RESETs of a server that may wait for room in the pipe. */
    private static final int MOST_RESETS = 10_000;

    /** Minimum room for a frame of longer metadata or of a longer message. */
    static final int WORTH_BYTES = 2 * 1024;

    /** Frames that belong to no stream. */
    private static final class Controls extends OutboundStream {
        @Override
        protected void opening(int number) {
            throw new IllegalStateException("frames without a stream open none");
        }

        @Override
        protected void queued(int bytes) {
            throw new IllegalStateException("frames without a stream carry no messages");
        }

        @Override
        protected void left(int bytes) {
            throw new IllegalStateException("frames without a stream carry no messages");
        }

        @Override
        protected void ended() {}
    }

    private final PipePeer other;
    private final Side side;
    /** Hears of failures, also under the lock; only notes them. */
    private final Consumer<Throwable> failed;

    /** Guards the writer and everything below. */
    private final Object lock = new Object();

    private final PipeWriter writer;
    private final Controls controls = new Controls();
    /** Streams with frames for which the pipe had no room, in turn. */
    private final ArrayDeque<OutboundStream> backlog = new ArrayDeque<>();
    /** A stream in the middle of a frame that must be continued; 0 or 1 elements. */
    private OutboundStream unfinished = controls;

    private int lastStream;
    private boolean opensNoMore;
    /** Streams' RESETs that wait for room. */
    private int resets;

    /** Written under the lock. Helpers read it without. */
    private volatile boolean closed;
    /** Whether the connection has failed: nothing is sent or taken until the loop, which knows of it, closes it. */
    private volatile boolean broken;
    /** Whether the backlog has streams. */
    private volatile boolean backlogged;

    PipeSender(PipePeer other, PipeWriter writer, Side side, Consumer<Throwable> failed) {
        this.other = other;
        this.writer = writer;
        this.side = side;
        this.failed = failed;
    }

    /**
     * Adds a frame to a stream; {@link #flush} sends it. For the one thread that uses the stream.
     *
     * @param bytes the payload, which must not change any more
     */
    public void add(OutboundStream stream, int kind, int flags, byte[] bytes, int length) {
        synchronized (lock) {
            if (stream.ending || closed) {
                return;
            }
            stream.ending = kind == Frame.TRAILERS;
            stream.queue.add(new OutboundStream.Chunk(kind, flags, 0, bytes, length));
            if (kind == Frame.DATA) {
                stream.pending += length;
            }
        }
    }

    /** Sends a stream's frames, or as many as the pipe has room and the peer has credit for; the rest follows. */
    public void flush(OutboundStream stream) {
        boolean ring;
        long left;
        boolean over;
        synchronized (lock) {
            if (closed || broken) {
                return;
            }
            try {
                drainOrList(stream);
            } catch (FrameBreachException e) {
                // Any thread sends, and it is not the one to hear of the peer's breach.
                fail(e);
                return;
            }
            left = stream.settle();
            over = stream.endsNow();
            ring = !stream.telling && publish();
        }
        if (over) {
            stream.endIsWritten();
            ring = publishEnds(List.of(stream));
        }
        finish(stream, left, over, ring);
    }

    /**
     * Ends a stream at once and drops its waiting frames. Tells the peer if it knows the stream.
     *
     * @param code a status code
     */
    public void reset(OutboundStream stream, int code, boolean refused, byte[] description) {
        synchronized (lock) {
            if (stream.over || (stream.ending && stream.queue.isEmpty())) {
                return;
            }
            boolean halfWritten = unfinished == stream;
            OutboundStream.Chunk first = clear(stream);
            stream.pending = 0;
            stream.creditDue = 0;
            if (halfWritten && first != null) {
                // The peer waits for the rest of it.
                queue(stream, first);
            } else {
                stream.written = 0;
            }
            stream.ending = true;
            if (stream.id == 0) {
                stream.over = true;
                stream.overReported = true;
                return;
            }
            queue(
                    stream,
                    new OutboundStream.Chunk(
                            Frame.RESET, refused ? Frame.REFUSED : 0, code, description, description.length));
            // A client resets streams that it has opened. A server resets as many as its client opens.
            if (side == Side.SERVER && resets > MOST_RESETS && !broken) {
                fail(new FrameBreachException("it reads none of its resets, of which " + resets + " wait"));
            }
        }
        flush(stream);
    }

    /** Drops the frames that a stream was about to send: the peer has ended it. */
    public void abandon(OutboundStream stream) {
        synchronized (lock) {
            stream.ending = true;
            OutboundStream.Chunk first = clear(stream);
            if (unfinished == stream && first != null) {
                // The peer waits for the rest of it.
                queue(stream, first);
            } else {
                stream.written = 0;
                stream.over = true;
                stream.overReported = true;
            }
            stream.pending = 0;
            stream.creditDue = 0;
        }
    }

    private void queue(OutboundStream stream, OutboundStream.Chunk chunk) {
        stream.queue.add(chunk);
        if (chunk.kind == Frame.RESET) {
            resets++;
        }
    }

    /** Drops a stream's frames; returns the first of them, or null. */
    private OutboundStream.Chunk clear(OutboundStream stream) {
        OutboundStream.Chunk first = stream.queue.peek();
        for (OutboundStream.Chunk chunk : stream.queue) {
            if (chunk.kind == Frame.RESET) {
                resets--;
            }
        }
        stream.queue.clear();
        return first;
    }

    /** As {@link #abandon}, but still sends a RESET that waits for room. */
    public void abandonUnlessReset(OutboundStream stream) {
        synchronized (lock) {
            OutboundStream.Chunk last = stream.queue.peekLast();
            if (last == null || last.kind != Frame.RESET) {
                abandon(stream);
            }
        }
    }

    /** Tells the peer how many bytes of a stream were consumed, in total. */
    public void consumed(OutboundStream stream, long bytes) {
        synchronized (lock) {
            if (stream.over || stream.id == 0) {
                return;
            }
            stream.creditDue = bytes;
        }
        flush(stream);
    }

    /** Credit of the peer has come: a stream may send more. */
    public void credited(OutboundStream stream, long consumed) {
        synchronized (lock) {
            if (consumed < 0 || consumed > stream.sent) {
                throw new FrameBreachException("stream " + stream.id + ": the peer has consumed " + consumed + " of "
                        + stream.sent + " bytes");
            }
            stream.limit = Math.max(stream.limit, consumed + OutboundStream.WINDOW);
            if (stream.queue.isEmpty()) {
                return;
            }
        }
        flush(stream);
    }

    /** Gives a stream the number under which the peer opened it. */
    public void adopt(OutboundStream stream, int number) {
        synchronized (lock) {
            stream.id = number;
        }
    }

    /** From now on, streams that have no number get none. */
    public void openNoMore() {
        synchronized (lock) {
            opensNoMore = true;
        }
    }

    /**
     * Sends a frame without a stream.
     *
     * @throws FrameBreachException if the peer pings and reads no answers
     */
    public void control(int kind, int extra, byte[] payload) {
        synchronized (lock) {
            if (closed) {
                return;
            }
            if (kind == Frame.PONG && controls.queue.size() >= MOST_CONTROLS) {
                throw new FrameBreachException("it reads none of the answers to its " + MOST_CONTROLS + " pings");
            }
            controls.queue.add(new OutboundStream.Chunk(kind, 0, extra, payload, payload.length));
        }
        flush(controls);
    }

    /** Sends what waited for room. The loop calls it. */
    boolean pump() {
        if (!backlogged) {
            return false;
        }
        List<OutboundStream> moved = new ArrayList<>();
        boolean ring;
        long[] left;
        boolean[] over;
        synchronized (lock) {
            if (closed || broken || !backlogged) {
                return false;
            }
            for (int turns = backlog.size(); turns > 0; turns--) {
                OutboundStream stream = unfinished == controls ? backlog.peek() : unfinished;
                if (!drain(stream)) {
                    break;
                }
                backlog.remove(stream);
                stream.listed = false;
                moved.add(stream);
            }
            // The first stream may have sent only part of its frame.
            if (!backlog.isEmpty()) {
                moved.add(backlog.peek());
                backlog.add(backlog.remove());
            }
            backlogged = !backlog.isEmpty();
            other.waitsForRoom(backlogged);
            left = new long[moved.size()];
            over = new boolean[moved.size()];
            for (int i = 0; i < moved.size(); i++) {
                left[i] = moved.get(i).settle();
                over[i] = moved.get(i).endsNow();
            }
            if (!writer.hasUnpublished()) {
                return false;
            }
        }
        List<OutboundStream> ends = new ArrayList<>();
        for (int i = 0; i < moved.size(); i++) {
            if (over[i]) {
                moved.get(i).endIsWritten();
                ends.add(moved.get(i));
            }
        }
        ring = publishEnds(ends);
        for (int i = 0; i < moved.size(); i++) {
            finish(moved.get(i), left[i], over[i], false);
        }
        if (ring) {
            other.ring();
        }
        return true;
    }

    private void drainOrList(OutboundStream stream) {
        if (stream.listed) {
            return;
        }
        boolean mine = unfinished == controls || unfinished == stream;
        if (mine && (backlog.isEmpty() || stream == controls) && drain(stream)) {
            return;
        }
        stream.listed = true;
        backlog.add(stream);
        backlogged = true;
        other.waitsForRoom(true);
        if (backlog.size() == 1 && mine && drain(stream)) {
            backlog.remove(stream);
            stream.listed = false;
            backlogged = false;
            other.waitsForRoom(false);
        }
    }

    /** Writes a stream's frames; false if the pipe has no room for the next one. */
    private boolean drain(OutboundStream stream) {
        if (stream.creditDue != 0 && unfinished != stream) {
            if (!writer.hasRoom(Long.BYTES)) {
                return false;
            }
            writer.write(Frame.CREDIT, 0, stream.id, 0, ofLong(stream.creditDue), 0, Long.BYTES);
            stream.creditDue = 0;
        }
        for (OutboundStream.Chunk chunk = stream.queue.peek(); chunk != null; chunk = stream.queue.peek()) {
            boolean opens = stream.id == 0 && stream != controls;
            if (opens && (opensNoMore || lastStream == Integer.MAX_VALUE)) {
                stream.queue.clear();
                return true;
            }
            int rest = chunk.length - stream.written;
            int length = Math.min(rest, PipeLayout.MAX_PAYLOAD);
            if (chunk.kind == Frame.DATA && length > 0) {
                long credit = stream.limit - stream.sent;
                if (credit <= 0) {
                    // A CREDIT frame puts it back.
                    return true;
                }
                length = (int) Math.min(length, credit);
            }
            if (!writer.hasRoom(length)) {
                if (length <= WORTH_BYTES || !writer.hasRoom(WORTH_BYTES)) {
                    return false;
                }
                length = WORTH_BYTES;
            }
            if (opens) {
                // Not before there is room: the streams behind this one may be written before it.
                stream.id = ++lastStream;
                stream.opening(stream.id);
            }
            boolean last = length == rest;
            int flags = chunk.flags;
            if (!last) {
                flags = chunk.kind == Frame.DATA ? flags & ~Frame.END : flags | Frame.MORE;
            }
            writer.write(chunk.kind, flags, stream.id, chunk.extra, chunk.bytes, stream.written, length);
            if (chunk.kind == Frame.DATA) {
                stream.sent += length;
                stream.pending -= length;
            } else {
                unfinished = last ? controls : stream;
            }
            if (!last) {
                stream.written += length;
                continue;
            }
            stream.written = 0;
            stream.queue.remove();
            if (chunk.kind == Frame.RESET) {
                resets--;
            }
            if (chunk.kind == Frame.TRAILERS || chunk.kind == Frame.RESET) {
                stream.over = true;
            }
        }
        return true;
    }

    /** Shows the peer what was written; returns whether this thread has to ring. */
    private boolean publish() {
        if (!writer.hasUnpublished()) {
            return false;
        }
        long from = writer.published();
        return other.published(from, writer.publish());
    }

    /**
     * As {@link #publish}, for streams whose last frames were held back until {@link OutboundStream#endIsWritten} had
     * returned, which runs without the lock.
     */
    private boolean publishEnds(List<OutboundStream> told) {
        synchronized (lock) {
            for (OutboundStream stream : told) {
                stream.telling = false;
            }
            return !closed && publish();
        }
    }

    private void finish(OutboundStream stream, long left, boolean over, boolean ring) {
        if (ring) {
            other.ring();
        }
        if (left > 0) {
            stream.left((int) left);
        }
        if (over) {
            stream.ended();
        }
    }

    private static byte[] ofLong(long value) {
        return ByteBuffer.allocate(Long.BYTES).putLong(value).array();
    }

    /** Whether {@link #pump} would send something. */
    boolean hasWork() {
        if (!backlogged) {
            return false;
        }
        synchronized (lock) {
            try {
                return !closed && !broken && writer.hasRoom(WORTH_BYTES);
            } catch (FrameBreachException e) {
                fail(e);
                return true;
            }
        }
    }

    /** Whether frames wait for room in the pipe. */
    boolean isBacklogged() {
        return backlogged;
    }

    /** Whether it still sends, and its end still receives. */
    boolean isOpen() {
        return !closed && !broken;
    }

    /** Sends nothing more and lets the loop close the connection soon. Any thread. */
    void fail(Throwable failure) {
        broken = true;
        failed.accept(failure);
    }

    /** Drops the waiting frames; returns false if that has happened already. */
    boolean close() {
        synchronized (lock) {
            if (closed) {
                return false;
            }
            closed = true;
            backlog.clear();
            backlogged = false;
            return true;
        }
    }
}
