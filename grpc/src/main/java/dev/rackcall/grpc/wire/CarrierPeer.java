package dev.rackcall.grpc.wire;

import dev.rackcall.grpc.wire.PipeLayout.Side;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.shm.os.socket.EventPoll;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * Each end has memory of its own, and a carrier writes this end's frames and heads into the peer's. The words by which
 * ends that share memory say that they sleep are not used: each publication reaches a peer that listens.
 */
final class CarrierPeer implements PipePeer {
    /** Frames in flight have a header at least, and notices of room are a quarter of a pipe apart. */
    static final int PUBLICATIONS = PipeLayout.PIPE_BYTES / Frame.HEADER_BYTES + 8;

    private static final int CLOSING_THREADS = 4;
    /**
     * The last frames of a connection may take a second to arrive. The JVM waits for them, so no thread is a daemon.
     */
    private static final ThreadPoolExecutor CLOSING = new ThreadPoolExecutor(
            CLOSING_THREADS,
            CLOSING_THREADS,
            100,
            TimeUnit.MILLISECONDS,
            new LinkedBlockingQueue<>(),
            Thread.ofPlatform().daemon(false).name("rackcall-grpc-close").factory());

    static {
        CLOSING.allowCoreThreadTimeOut(true);
    }

    private static final int MASK = PipeLayout.PIPE_BYTES - 1;

    private final Carrier carrier;
    private final PipeMemory memory;
    private final Side side;

    /** Null until the loop watches it. */
    private volatile PipeConnection connection;
    /** Whether the peer's device confirms nothing; then nothing is sent any more. */
    private volatile boolean stuck;

    /** Guarded by this object: a caller that leaves sees a loop that polls, or listens for it. */
    private boolean polled;

    private boolean helped;

    /** @param memory of this end, which this object closes after the carrier */
    CarrierPeer(Carrier carrier, PipeMemory memory, Side side) {
        this.carrier = carrier;
        this.memory = memory;
        this.side = side;
    }

    // A carrier that has lost its peer reports that as the end; so nothing depends on what its methods return.

    @Override
    public boolean published(long from, long to) {
        if (isStuck()) {
            return false;
        }
        long pipe = PipeLayout.pipe(side);
        int at = (int) from & MASK;
        int length = (int) (to - from);
        int first = Math.min(length, PipeLayout.PIPE_BYTES - at);
        carrier.carry(pipe + at, first);
        if (first < length) {
            carrier.carry(pipe, length - first);
        }
        carrier.publish(PipeLayout.tailOffset(side), to);
        return false;
    }

    /**
     * Whether sending would wait. The loop must not wait, since it serves other connections, too, so this ends the
     * connection. It never happens with a correct peer: its device confirms what it receives before the peer can make
     * room, so requests in flight to it stay few.
     */
    private boolean isStuck() {
        if (!stuck && connection != null && carrier.isCrowded()) {
            stuck = true;
            connection
                    .sender()
                    .fail(new FrameBreachException("it makes room, but its device does not confirm what it receives"));
        }
        return stuck;
    }

    @Override
    public void ring() {
        throw new IllegalStateException("a publication over a device rings by itself");
    }

    @Override
    public void madeRoom(long head) {
        if (!isStuck()) {
            carrier.publish(PipeLayout.headOffset(side.peer()), head);
        }
    }

    @Override
    public boolean isRoomDear() {
        return true;
    }

    @Override
    public void waitsForRoom(boolean waits) {
        // The peer's notice of room is a publication, and always reaches this end.
    }

    @Override
    public void look() {
        carrier.look();
    }

    @Override
    public synchronized void loopPolls(boolean polls) {
        polled = polls;
        if (!polls && !helped) {
            carrier.listen();
        }
    }

    @Override
    public synchronized void callerPolls() {
        helped = true;
    }

    @Override
    public synchronized boolean callerLeaves() {
        helped = false;
        if (polled) {
            return false;
        }
        carrier.listen();
        PipeBell.fence();
        return true;
    }

    @Override
    public boolean watch(EventPoll poll, PipeConnection watching) {
        connection = watching;
        carrier.start(new Carrier.Arrivals() {
            @Override
            public void published() {
                watching.arrived();
            }

            @Override
            public void told(long number) {
                // No end of this protocol tells numbers.
            }

            @Override
            public void ended() {
                watching.peerEnded();
            }
        });
        return true;
    }

    @Override
    public void unwatch(EventPoll poll) {
        // Only the carrier's threads notice the peer, until it is closed.
    }

    @Override
    public int drainRings() {
        return 0;
    }

    @Override
    public void close(boolean atOnce) {
        try {
            CLOSING.execute(() -> end(atOnce));
        } catch (RuntimeException | Error e) {
            // The host can start no thread, and the loop must not wait.
            end(true);
        }
    }

    private void end(boolean atOnce) {
        try {
            if (atOnce) {
                carrier.hangUp();
            } else {
                carrier.close();
            }
        } finally {
            memory.close();
        }
    }
}
