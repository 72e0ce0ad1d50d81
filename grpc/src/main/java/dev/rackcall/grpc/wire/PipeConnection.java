package dev.rackcall.grpc.wire;

import dev.rackcall.grpc.wire.PipeLayout.Side;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.socket.EventPoll;
import dev.rackcall.shm.os.socket.PeerCredentials;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.shm.waiting.Spinning;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * One end of a connection. Any thread sends: it writes into the pipe under a short lock if there is room, and otherwise
 * leaves the frames to the connection's loop. One thread at a time receives.
 *
 * <p>The kernel closes the socket when the peer dies, and the loop then ends the connection. What the peer wrote before
 * its end still arrives.
 */
public final class PipeConnection {
    /** Frames taken before the loop's next connection has its turn. */
    private static final int FRAMES_PER_TURN = 64;

    /** Frames that a caller takes before it leaves the rest to the loop: whatever the peer sends, it returns. */
    private static final int FRAMES_PER_HELP = 16 * FRAMES_PER_TURN;

    /** Metadata of one frame that a peer may send, before any limit of gRPC. */
    public static final int MAX_METADATA_BYTES = 1 << 20;

    /** Answers to pings that may wait for room in the pipe. */
    private static final int MOST_CONTROLS = 64;

    /** RESETs of a server that may wait for room in the pipe. */
    private static final int MOST_RESETS = 10_000;

    /** Minimum room for a frame of longer metadata or of a longer message. */
    private static final int WORTH_BYTES = 2 * 1024;

    /** Checks of the pipe between two readings of the clock. */
    private static final int POLLS_PER_CLOCK = 16;

    private static final byte[] NOTHING = new byte[0];

    /** What a transport does with the frames of its peer. One thread at a time calls it. */
    public interface Receiver {
        /**
         * Takes a frame.
         *
         * @throws FrameBreachException if no correct peer sends it; ends the connection
         */
        void frame(int kind, int flags, int stream, int extra, byte[] payload);

        /** The peer has consumed that many bytes of a stream, all in all. */
        void credit(int stream, long consumed);

        /**
         * Whether frames of a stream may be taken by a thread that waits for another stream: no code of the
         * application runs then.
         */
        boolean isHarmless(int stream);

        /** The connection has ended, for that reason. Called once. */
        void closed(String reason);
    }

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

    private final UnixSocket socket;
    private final Mapping mapping;
    private final MemorySegment memory;
    private final Side side;
    private final PeerCredentials peer;
    private final PipeReader reader;
    /** Set before the loop knows this connection. */
    private Receiver receiver;
    /** Whether a thread is reading frames. */
    private final AtomicBoolean receiving = new AtomicBoolean();

    /** Payload of a frame whose continuation has yet to come, and how much of the array it fills. Receiving thread only. */
    private byte[] partial = NOTHING;

    private int partialLength;
    private int partialKind;
    private int partialStream;

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

    /** Written under the lock. A helper looks at it without. */
    private volatile boolean closed;
    /** Whether an end has failed: it sends and takes nothing until the loop, which knows of it, closes it. */
    private volatile boolean broken;
    /** Whether the backlog has streams. */
    private volatile boolean backlogged;

    /** Whether the loop polls this connection. Together with the next field decides whether the peer must ring. */
    private boolean polled;
    /** Whether a caller polls it. */
    private boolean helped;

    // ---- the loop's

    /** Set before it is shared. */
    PipeLoop loop;

    long tag;
    boolean watched;
    int emptyTurns;
    int rests;
    boolean hungUp;

    PipeConnection(UnixSocket socket, Mapping mapping, Side side, PeerCredentials peer) {
        this.socket = socket;
        this.mapping = mapping;
        this.memory = mapping.memory();
        this.side = side;
        this.peer = peer;
        this.writer = new PipeWriter(memory, side);
        this.reader = new PipeReader(memory, side.peer());
    }

    /** Sets what takes the frames, before a loop receives them. */
    public void begin(Receiver frames) {
        receiver = frames;
    }

    /** Ends a connection that no loop was given. */
    public void discard() {
        socket.close();
        mapping.close();
    }

    /** The process at the other end, as the kernel knew it when it connected. */
    public PeerCredentials peer() {
        return peer;
    }

    // ---- sending: any thread

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
            left = settle(stream);
            over = endsNow(stream);
            ring = publish();
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

    /** Tells the peer how many bytes of a stream were consumed, all in all. */
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
    private boolean pump() {
        List<OutboundStream> moved = new ArrayList<>();
        boolean ring = false;
        long[] left = NO_LONGS;
        boolean[] over = NO_BOOLEANS;
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
            PipeLayout.waitsForRoom(memory, side, backlogged);
            left = new long[moved.size()];
            over = new boolean[moved.size()];
            for (int i = 0; i < moved.size(); i++) {
                left[i] = settle(moved.get(i));
                over[i] = endsNow(moved.get(i));
            }
            boolean published = writer.publish();
            ring = published && claimRing();
            if (!published) {
                return false;
            }
        }
        for (int i = 0; i < moved.size(); i++) {
            finish(moved.get(i), left[i], over[i], false);
        }
        if (ring) {
            socket.ring();
        }
        return true;
    }

    private static final long[] NO_LONGS = new long[0];
    private static final boolean[] NO_BOOLEANS = new boolean[0];

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
        PipeLayout.waitsForRoom(memory, side, true);
        // Orders the word before the check: the reader moves its head, fences, and then reads the word.
        VarHandle.fullFence();
        if (backlog.size() == 1 && mine && drain(stream)) {
            backlog.remove(stream);
            stream.listed = false;
            backlogged = false;
            PipeLayout.waitsForRoom(memory, side, false);
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
            if (stream.id == 0 && stream != controls && !opens(stream)) {
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

    /** Gives a stream its number, in the order in which the OPEN frames are written. */
    private boolean opens(OutboundStream stream) {
        if (opensNoMore || lastStream == Integer.MAX_VALUE) {
            stream.queue.clear();
            return false;
        }
        stream.id = ++lastStream;
        stream.opening(stream.id);
        return true;
    }

    /** Counts bytes that have begun to wait; returns how many no longer wait. */
    private static long settle(OutboundStream stream) {
        long change = stream.pending - stream.announced;
        stream.announced = stream.pending;
        if (change > 0) {
            stream.queued((int) change);
        }
        return Math.max(0, -change);
    }

    private static boolean endsNow(OutboundStream stream) {
        if (!stream.over || stream.overReported) {
            return false;
        }
        stream.overReported = true;
        return true;
    }

    /** Shows the peer what was written; returns whether it sleeps and this thread has to ring. */
    private boolean publish() {
        return writer.publish() && claimRing();
    }

    private boolean claimRing() {
        // Orders the tail or head before the check: a peer that goes to sleep says so, fences, and looks once more.
        VarHandle.fullFence();
        return PipeLayout.claimRing(memory, side.peer());
    }

    private void finish(OutboundStream stream, long left, boolean over, boolean ring) {
        if (ring) {
            socket.ring();
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

    // ---- receiving: one thread at a time

    /**
     * Takes some of the peer's frames, and sends what waited for room.
     *
     * @return how much was done; 0 if there was nothing to do
     */
    int turn() {
        int taken = receive();
        return backlogged && pump() ? taken + 1 : taken;
    }

    private int receive() {
        // An empty pipe is left to callers, who could not help while this thread looks.
        if (broken || !reader.hasFrames() || !receiving.compareAndSet(false, true)) {
            return 0;
        }
        int taken = 0;
        try {
            while (taken < FRAMES_PER_TURN && reader.next()) {
                take();
                taken++;
                tellRoom(false);
            }
            if (taken > 0) {
                tellRoom(true);
            }
        } finally {
            receiving.set(false);
        }
        return taken;
    }

    /**
     * Takes frames on a caller's thread until its call is over, or for as long as that pays. Returns at once if another
     * thread receives, or if frames wait for room, which the loop sends. Frames of streams whose listeners run code of
     * the application are left to the loop.
     *
     * @param spinning begun by the caller
     * @param over whether the caller's call is over
     * @return whether this thread has polled the pipe
     */
    public boolean help(Spinning spinning, BooleanSupplier over) {
        if (backlogged || !receiving.compareAndSet(false, true)) {
            return false;
        }
        boolean leave = false;
        try {
            synchronized (lock) {
                helped = true;
                PipeLayout.asleep(memory, side, false);
            }
            leave = takeUntil(spinning, over);
        } catch (RuntimeException | Error e) {
            // The frame at fault is taken already, so the loop would not find it.
            fail(e);
        } finally {
            leave |= endHelp();
            receiving.set(false);
        }
        if (leave) {
            loop.wake(this);
        }
        return true;
    }

    /** Returns whether it leaves a frame to the loop. */
    private boolean takeUntil(Spinning spinning, BooleanSupplier over) {
        boolean leaves = false;
        int taken = 0;
        int polls = 0;
        // The peer does not ring while this thread polls, not even when it has made room: that is for the loop to see.
        while (!closed && !broken && !backlogged && !over.getAsBoolean()) {
            if (reader.next()) {
                if (taken == FRAMES_PER_HELP || !receiver.isHarmless(reader.stream())) {
                    leaves = true;
                    break;
                }
                take();
                taken++;
                tellRoom(false);
            } else if (++polls % POLLS_PER_CLOCK != 0) {
                Thread.onSpinWait();
            } else if (!spinning.goesOn(Spinning.alwaysShares())) {
                break;
            }
        }
        tellRoom(true);
        return leaves;
    }

    /** Returns whether the loop has to look, since it sleeps and the peer has not rung. */
    private boolean endHelp() {
        synchronized (lock) {
            helped = false;
            if (closed || polled) {
                return false;
            }
            PipeLayout.asleep(memory, side, true);
            // Orders the word before the check: the peer publishes or makes room, fences, and then reads the word.
            VarHandle.fullFence();
            return reader.hasFrames() || backlogged;
        }
    }

    /** Lets the loop close this connection soon. Any thread, also with the lock. */
    private void fail(Throwable failure) {
        broken = true;
        loop.fail(this, failure);
    }

    private void tellRoom(boolean now) {
        if (reader.release(now)) {
            // Orders the head before the check, as claimRing() does for a tail.
            VarHandle.fullFence();
            if (PipeLayout.isWaitingForRoom(memory, side.peer()) && PipeLayout.claimRing(memory, side.peer())) {
                socket.ring();
            }
        }
    }

    private void take() {
        int kind = reader.kind();
        int flags = reader.flags();
        int stream = reader.stream();
        int extra = reader.extra();
        byte[] payload = reader.take();
        boolean metadata = kind == Frame.OPEN || kind == Frame.HEADERS || kind == Frame.TRAILERS;
        if (partialKind != 0) {
            if (kind != partialKind || stream != partialStream) {
                throw new FrameBreachException("a frame " + kind + " of stream " + stream + " inside the frame "
                        + partialKind + " of stream " + partialStream);
            }
        }
        boolean more = metadata && (flags & Frame.MORE) != 0;
        if (more || partialKind != 0) {
            collect(payload, more);
            partialKind = kind;
            partialStream = stream;
        }
        if (more) {
            return;
        }
        if (partialKind != 0) {
            payload = Arrays.copyOf(partial, partialLength);
            partial = NOTHING;
            partialLength = 0;
            partialKind = 0;
        }
        switch (kind) {
            case Frame.CREDIT -> receiver.credit(stream, requireLong(payload));
            case Frame.PING -> {
                requireLong(payload);
                control(Frame.PONG, 0, payload);
            }
            default -> receiver.frame(kind, flags, stream, extra, payload);
        }
    }

    private void collect(byte[] payload, boolean more) {
        if (more && payload.length < WORTH_BYTES) {
            // Else a peer's bytes would cost this end many times as many.
            throw new FrameBreachException("metadata is continued after a frame of " + payload.length
                    + " instead of at least " + WORTH_BYTES + " bytes");
        }
        int length = partialLength + payload.length;
        if (length > MAX_METADATA_BYTES) {
            throw new FrameBreachException("metadata of more than " + MAX_METADATA_BYTES + " bytes");
        }
        if (length > partial.length) {
            partial = Arrays.copyOf(partial, Math.max(length, 2 * partial.length));
        }
        System.arraycopy(payload, 0, partial, partialLength, payload.length);
        partialLength = length;
    }

    private static long requireLong(byte[] payload) {
        if (payload.length != Long.BYTES) {
            throw new FrameBreachException("a frame with " + payload.length + " bytes instead of a number");
        }
        return ByteBuffer.wrap(payload).getLong();
    }

    // ---- the loop's view

    boolean watch(EventPoll poll) {
        return socket.watch(poll, tag);
    }

    void unwatch(EventPoll poll) {
        socket.unwatch(poll);
    }

    int drainRings() {
        return socket.drain();
    }

    /** Says that the loop does not poll, so that the peer has to ring; or that it does. */
    void asleep(boolean value) {
        // The lock makes this one step for a helper that ends: it sees a loop that polls, or sets the word itself.
        synchronized (lock) {
            polled = !value;
            PipeLayout.asleep(memory, side, value && !helped);
        }
    }

    /** Whether a turn would do something. */
    boolean hasWork() {
        if (reader.hasFrames()) {
            return true;
        }
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

    /** Whether all frames that the peer has published were taken. */
    boolean isDrained() {
        // In this order: a caller that takes a frame leaves the pipe after it.
        return !receiving.get() && !reader.hasFrames();
    }

    /** Ends this end; the loop's thread. Waiting frames are dropped. */
    void close(String reason) {
        synchronized (lock) {
            if (closed) {
                return;
            }
            closed = true;
            backlog.clear();
            backlogged = false;
        }
        while (!receiving.compareAndSet(false, true)) {
            // A caller that helps leaves after the frame that it is taking.
            Thread.onSpinWait();
        }
        socket.close();
        mapping.close();
        receiver.closed(reason);
    }

    @Override
    public String toString() {
        return "connection with process " + peer.pid() + " of uid " + peer.uid();
    }
}
