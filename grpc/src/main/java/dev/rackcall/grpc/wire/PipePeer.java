package dev.rackcall.grpc.wire;

import dev.rackcall.shm.os.socket.EventPoll;

/**
 * How one end of a connection makes its peer see frames and room, and learns of the peer's: through memory that both
 * map, or through memory that a device mirrors.
 */
interface PipePeer {
    /**
     * Frames were published in this end's pipe. Called under the sender's lock, in order.
     *
     * @param from the byte of the pipe at which they begin
     * @param to the pipe's new tail
     * @return whether the caller has to {@link #ring} once it has left the lock
     */
    boolean published(long from, long to);

    /** Wakes the peer. */
    void ring();

    /** The peer's pipe was read up to {@code head}; wakes the peer if it waits for room. One thread at a time. */
    void madeRoom(long head);

    /** Whether each notice of room costs a message, so that small ones have to wait for each other. */
    boolean isRoomDear();

    /** This end waits for room, or no longer. The caller looks for room afterwards. */
    void waitsForRoom(boolean waits);

    /** Moves what is under way to this end. Called by a thread that polls the pipe. */
    void look();

    /** The loop begins to poll, or stops; before it sleeps, it has to fence and to look once more. */
    void loopPolls(boolean polls);

    /** A caller begins to poll. */
    void callerPolls();

    /** The caller stops. Returns whether it has to look once more, since the loop sleeps and the peer has not rung. */
    boolean callerLeaves();

    /** The connection's loop notices from now on when the peer rings or ends. Returns false if it has ended already. */
    boolean watch(EventPoll poll, PipeConnection connection);

    /** The reverse of {@link #watch}. */
    void unwatch(EventPoll poll);

    /** Takes the peer's rings; negative if the peer has ended. */
    int drainRings();

    /**
     * Ends the connection for the peer and unmaps the memory, soon. Called once; no other method is in use then.
     *
     * @param atOnce whether to end even if the frames sent last do not arrive
     */
    void close(boolean atOnce);
}
