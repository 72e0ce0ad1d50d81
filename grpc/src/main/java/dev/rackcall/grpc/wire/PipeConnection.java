package dev.rackcall.grpc.wire;

import dev.rackcall.grpc.wire.PipeLayout.Side;
import dev.rackcall.rpc.shm.notes.PipeNote;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.shm.os.socket.EventPoll;
import dev.rackcall.shm.os.socket.PeerCredentials;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.shm.waiting.Spinning;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BooleanSupplier;

/**
 * One end of a connection: its life, and its receiving half, in which one thread at a time takes frames. Its {@link
 * PipeSender} is the other half.
 *
 * <p>The peer's death ends its socket or carrier, and the loop then ends the connection. What the peer wrote before its
 * end still arrives.
 */
public final class PipeConnection {
    /** Frames, or runs of messages, taken before the loop's next connection has its turn. */
    private static final int FRAMES_PER_TURN = 64;

    /**
     * Frames, or runs of messages, that a caller takes before it leaves the rest to the loop: whatever the peer sends,
     * it returns.
     */
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

        /** The peer has consumed that many bytes of a stream, in total. */
        void credit(int stream, long consumed);

        /**
         * Whether frames of a stream may be taken by a thread that waits for another stream: no code of the
         * application runs then.
         */
        boolean isHarmless(int stream);

        /** The connection has ended, for that reason. Called once. */
        void closed(String reason);
    }

    private final PipePeer other;
    private final Optional<PeerCredentials> peer;
    private final String peerName;
    private final PipeReader reader;
    private final PipeSender sender;
    private final PipeNote note;
    private final FrameAssembler assembler = new FrameAssembler();
    /** Whether a thread is reading frames. */
    private final AtomicBoolean receiving = new AtomicBoolean();
    /** Receives its frames. */
    private final PipeLoop loop;
    /** Set before the loop knows this connection. */
    private Receiver receiver;

    // ---- the loop's

    long tag;
    boolean watched;
    /** Whether there was work, or the loop began to poll, since its watch time was last over. */
    boolean used;

    int rests;
    boolean hungUp;
    /** Why it ends once its frames are sent; null while it goes on. */
    String ending;

    /**
     * A connection between two processes of this host, which share the memory.
     *
     * @param socket closed with this connection; if this fails, the caller closes it
     * @param memory closed with this connection, or if this fails
     */
    static PipeConnection ofMemory(
            UnixSocket socket, PipeMemory memory, Side side, PeerCredentials peer, PipeLoop loop) {
        try {
            return new PipeConnection(
                    new MemoryPeer(socket, memory, side),
                    memory.memory(),
                    side,
                    Optional.of(peer),
                    "process " + peer.pid() + " of uid " + peer.uid(),
                    loop);
        } catch (RuntimeException | Error e) {
            memory.close();
            throw e;
        }
    }

    /**
     * A connection to a process that shares no memory with this one.
     *
     * @param peerName for the log
     */
    static PipeConnection ofCarrier(Carrier carrier, PipeMemory memory, Side side, String peerName, PipeLoop loop) {
        return new PipeConnection(
                new CarrierPeer(carrier, memory, side), memory.memory(), side, Optional.empty(), peerName, loop);
    }

    private PipeConnection(
            PipePeer other,
            MemorySegment memory,
            Side side,
            Optional<PeerCredentials> peer,
            String peerName,
            PipeLoop loop) {
        this.other = other;
        this.peer = peer;
        this.peerName = peerName;
        this.loop = loop;
        this.note = PipeNote.write(memory, side == Side.SERVER);
        this.reader = new PipeReader(memory, side.peer());
        this.sender = new PipeSender(other, new PipeWriter(memory, side), side, failure -> loop.fail(this, failure));
    }

    /** Sets what takes the frames, before a loop receives them. */
    public void begin(Receiver frames) {
        receiver = frames;
    }

    /** Ends a connection that no loop was given; nothing is sent any more. */
    public void discard() {
        if (sender.close()) {
            other.close(true);
        }
    }

    /** The process at the other end, as the kernel knew it when it connected; empty if it shares no memory. */
    public Optional<PeerCredentials> peer() {
        return peer;
    }

    /** The process at the other end, for a person to read. */
    public String peerName() {
        return peerName;
    }

    /** The loop receives frames from now on. Any thread, once; after {@link #begin}. */
    public void start() {
        loop.add(this);
    }

    /** Ends it soon. Any thread. */
    public void end(String reason) {
        loop.close(this, reason);
    }

    /**
     * Ends it as soon as the pipe has had room for all frames that wait for it. Any thread; the caller sends nothing
     * afterwards. Only the peer makes room, so the caller sets a bound with {@link #end}.
     */
    public void endOnceSent(String reason) {
        loop.closeOnceSent(this, reason);
    }

    /** Sends this end's frames; for any thread, as long as the connection lives. */
    public PipeSender sender() {
        return sender;
    }

    // ---- for observers; any thread

    /** Counts a call that this end has begun. */
    public void callBegins() {
        note.callBegins();
    }

    /** Counts the end of a call that {@link #callBegins} has counted. */
    public void callEnds() {
        note.callEnds();
    }

    /** Notes that no more calls begin. Without effect once the connection has ended. */
    public void drains() {
        note.drains();
    }

    // ---- receiving: one thread at a time

    /**
     * Takes some of the peer's frames, and sends what waited for room.
     *
     * @return how much was done; 0 if there was nothing to do
     */
    int turn() {
        other.look();
        int taken = receive();
        return sender.pump() ? taken + 1 : taken;
    }

    private int receive() {
        // Leaves an empty pipe to callers, which could not receive while this thread looks.
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
            other.callerPolls();
            leave = takeUntil(spinning, over);
        } catch (RuntimeException | Error e) {
            // The frame at fault is taken already, so the loop would not find it.
            sender.fail(e);
        } finally {
            leave |= other.callerLeaves() && (reader.hasFrames() || sender.isBacklogged());
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
        // The peer does not ring while this thread polls, not even when it has made room: the loop has to notice that.
        while (sender.isOpen() && !sender.isBacklogged() && !over.getAsBoolean()) {
            other.look();
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
        if (reader.release(now && !other.isRoomDear())) {
            other.madeRoom(reader.released());
        }
    }

    private void take() {
        int kind = reader.kind();
        int stream = reader.stream();
        int extra = reader.extra();
        byte[] bytes = kind == Frame.DATA ? reader.takeRun() : reader.take();
        // Now those of the last frame, if it took several.
        int flags = reader.flags();
        byte[] payload = assembler.whole(kind, flags, stream, bytes);
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

    // ---- news of a carrier, on its threads

    /** Something has arrived while this end listened. */
    void arrived() {
        loop.arrived(this);
    }

    /** The peer has ended, and nothing arrives any more. */
    void peerEnded() {
        loop.peerEnded(this);
    }

    // ---- the loop's view

    boolean watch(EventPoll poll) {
        return other.watch(poll, this);
    }

    void unwatch(EventPoll poll) {
        other.unwatch(poll);
    }

    int drainRings() {
        return other.drainRings();
    }

    /** Says that the loop does not poll, so that the peer has to ring; or that it does. */
    void asleep(boolean value) {
        used |= !value;
        other.loopPolls(!value);
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

    /**
     * Ends this end and drops its waiting frames. Called by the loop's thread.
     *
     * @param atOnce whether to end even if the frames sent last do not arrive
     */
    void close(String reason, boolean atOnce) {
        if (!sender.close()) {
            return;
        }
        while (!receiving.compareAndSet(false, true)) {
            // A caller that helps leaves after the frame that it is taking.
            Thread.onSpinWait();
        }
        note.ends();
        try {
            other.close(atOnce);
        } finally {
            receiver.closed(reason);
        }
    }

    @Override
    public String toString() {
        return "connection with " + peerName;
    }
}
