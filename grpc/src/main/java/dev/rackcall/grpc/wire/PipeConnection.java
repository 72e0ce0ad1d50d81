package dev.rackcall.grpc.wire;

import dev.rackcall.grpc.wire.PipeLayout.Side;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.socket.EventPoll;
import dev.rackcall.shm.os.socket.PeerCredentials;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.shm.waiting.Spinning;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * One end of a connection: its life, and its receiving half, in which one thread at a time takes frames. Its {@link
 * PipeSender} is the other half.
 *
 * <p>The kernel closes the socket when the peer dies, and the loop then ends the connection. What the peer wrote before
 * its end still arrives.
 */
public final class PipeConnection {
    /** Frames taken before the loop's next connection has its turn. */
    private static final int FRAMES_PER_TURN = 64;

    /** Frames that a caller takes before it leaves the rest to the loop: whatever the peer sends, it returns. */
    private static final int FRAMES_PER_HELP = 16 * FRAMES_PER_TURN;

    /** Checks of the pipe between two readings of the clock. */
    private static final int POLLS_PER_CLOCK = 16;

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

    private final UnixSocket socket;
    private final Mapping mapping;
    private final PeerCredentials peer;
    private final PipeReader reader;
    private final PipeBell bell;
    private final PipeSender sender;
    private final FrameAssembler assembler = new FrameAssembler();
    /** Whether a thread is reading frames. */
    private final AtomicBoolean receiving = new AtomicBoolean();
    /** Set before the loop knows this connection. */
    private Receiver receiver;

    // ---- the loop's

    /** Set before it is shared. */
    PipeLoop loop;

    long tag;
    boolean watched;
    int emptyTurns;
    int rests;
    boolean hungUp;

    PipeConnection(UnixSocket socket, Mapping mapping, Side side, PeerCredentials peer) {
        MemorySegment memory = mapping.memory();
        this.socket = socket;
        this.mapping = mapping;
        this.peer = peer;
        this.reader = new PipeReader(memory, side.peer());
        this.bell = new PipeBell(memory, side);
        this.sender =
                new PipeSender(socket, new PipeWriter(memory, side), side, bell, failure -> loop.fail(this, failure));
    }

    /** Sets what takes the frames, before a loop receives them. */
    public void begin(Receiver frames) {
        receiver = frames;
    }

    /** Ends a connection that no loop was given; nothing is sent any more. */
    public void discard() {
        if (sender.close()) {
            socket.close();
            mapping.close();
        }
    }

    /** The process at the other end, as the kernel knew it when it connected. */
    public PeerCredentials peer() {
        return peer;
    }

    /** Sends this end's frames; for any thread, as long as the connection lives. */
    public PipeSender sender() {
        return sender;
    }

    // ---- receiving: one thread at a time

    /**
     * Takes some of the peer's frames, and sends what waited for room.
     *
     * @return how much was done; 0 if there was nothing to do
     */
    int turn() {
        int taken = receive();
        return sender.pump() ? taken + 1 : taken;
    }

    private int receive() {
        // An empty pipe is left to callers, who could not help while this thread looks.
        if (!sender.isOpen() || !reader.hasFrames() || !receiving.compareAndSet(false, true)) {
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
        if (sender.isBacklogged() || !receiving.compareAndSet(false, true)) {
            return false;
        }
        boolean leave = false;
        try {
            bell.callerPolls();
            leave = takeUntil(spinning, over);
        } catch (RuntimeException | Error e) {
            // The frame at fault is taken already, so the loop would not find it.
            sender.fail(e);
        } finally {
            leave |= bell.callerLeaves() && (reader.hasFrames() || sender.isBacklogged());
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
        while (sender.isOpen() && !sender.isBacklogged() && !over.getAsBoolean()) {
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

    private void tellRoom(boolean now) {
        if (reader.release(now) && bell.claimRingForRoom()) {
            socket.ring();
        }
    }

    private void take() {
        int kind = reader.kind();
        int flags = reader.flags();
        int stream = reader.stream();
        int extra = reader.extra();
        byte[] payload = assembler.whole(kind, flags, stream, reader.take());
        if (payload == null) {
            return;
        }
        switch (kind) {
            case Frame.CREDIT -> receiver.credit(stream, requireLong(payload));
            case Frame.PING -> {
                requireLong(payload);
                sender.control(Frame.PONG, 0, payload);
            }
            default -> receiver.frame(kind, flags, stream, extra, payload);
        }
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
        bell.loopPolls(!value);
    }

    /** Whether a turn would do something. */
    boolean hasWork() {
        return reader.hasFrames() || sender.hasWork();
    }

    /** Whether all frames that the peer has published were taken. */
    boolean isDrained() {
        // In this order: a caller that takes a frame leaves the pipe after it.
        return !receiving.get() && !reader.hasFrames();
    }

    /** Ends this end; the loop's thread. Waiting frames are dropped. */
    void close(String reason) {
        if (!sender.close()) {
            return;
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
