package dev.rackcall.grpc.wire;

import java.util.ArrayDeque;

/**
 * The sending half of a stream: frames that wait for room in the pipe or for the peer's credit. All fields are guarded
 * by the connection's lock. Subclasses say what happens when bytes wait and when they leave.
 */
public abstract class OutboundStream {
    /** How many bytes of messages the peer accepts before it has consumed any. */
    public static final int WINDOW = 256 * 1024;

    /** A frame to send. The array must no longer change. */
    static final class Chunk {
        final int kind;
        final int flags;
        final int extra;
        final byte[] bytes;
        final int length;

        Chunk(int kind, int flags, int extra, byte[] bytes, int length) {
            this.kind = kind;
            this.flags = flags;
            this.extra = extra;
            this.bytes = bytes;
            this.length = length;
        }
    }

    final ArrayDeque<Chunk> queue = new ArrayDeque<>(4);
    /** How much of the first chunk is in the pipe. */
    int written;
    /** 0 until it opens. */
    int id;
    /** Whether it is in the connection's backlog. */
    boolean listed;
    /** Whether it has stopped sending. */
    boolean over;

    boolean overReported;
    /** Whether {@link #endIsWritten} has to return before this stream publishes. */
    boolean telling;
    /** Whether its last frame is in the queue or was sent. */
    boolean ending;
    /** Bytes of messages sent, and how many the peer's credit allows. */
    long sent;

    long limit = WINDOW;
    /** Bytes of messages that wait, and how many of them {@link #queued} knows. */
    long pending;

    long announced;
    /** Consumed bytes that were not yet reported to the peer; 0 if none. */
    long creditDue;

    /** Counts bytes that have begun to wait; returns how many no longer wait. */
    final long settle() {
        long change = pending - announced;
        announced = pending;
        if (change > 0) {
            queued((int) change);
        }
        return Math.max(0, -change);
    }

    /** Whether it has just ended; true once. */
    final boolean endsNow() {
        if (!over || overReported) {
            return false;
        }
        overReported = true;
        telling = true;
        return true;
    }

    /**
     * The stream's OPEN frame is about to be published under that number. Called under the connection's lock; must only
     * note it.
     */
    protected abstract void opening(int number);

    /** That many bytes of messages wait. Called under the connection's lock; must only count. */
    protected abstract void queued(int bytes);

    /** That many waiting bytes are in the pipe now. Called without a lock, by any thread. */
    protected abstract void left(int bytes);

    /**
     * The last frame of this stream is written, and is about to be shown to the peer. Called once, without a lock, by
     * any thread; must not throw. If other streams send at the same time, the peer may see the frame already.
     */
    protected void endIsWritten() {}

    /** The last frame of this stream is in the pipe. Called once, without a lock, by any thread. */
    protected abstract void ended();
}
