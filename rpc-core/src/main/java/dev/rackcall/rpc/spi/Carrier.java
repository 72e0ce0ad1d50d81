package dev.rackcall.rpc.spi;

/**
 * Carries what one end of a connection has written into the memory of the other end, at the same offsets. Everything arrives in the order in which it was
 * given, by whichever thread. Thread-safe; methods wait for room on the way, at most as long as the carrier bears a peer that takes nothing.
 *
 * <p>Methods that return false have found the peer gone, or the carrier closed; what was given before may or may not have arrived.
 */
public interface Carrier extends AutoCloseable {
    /** What the peer does. Called by threads of the carrier, one at a time, which must not be held up. */
    interface Arrivals {
        /** The peer has {@link Carrier#publish published} something; it is in the memory. */
        void published();

        /** The peer has {@link Carrier#tell told} this number, which may be anything. */
        void told(long number);

        /** The peer is gone. Called once, last; not after {@link Carrier#close}. */
        void ended();
    }

    /** Begins to say what arrives; what has arrived before is said now. To be called once. */
    void start(Arrivals arrivals);

    /** The peer's {@link System#nanoTime} less that of this process, as they were measured when the two were connected. */
    long clockAhead();

    /** Carries bytes that do not change before the peer has answered them. */
    boolean carry(long offset, long length);

    /** Carries of these bytes those that the peer does not have yet; they may be written again at once. */
    boolean carryChanged(long offset, long length);

    /** Carries 8 bytes, which need not be what is in the memory. Offset is a multiple of 8. */
    boolean store(long offset, long value);

    /** As {@link #store}, and then lets the peer know. */
    boolean publish(long offset, long value);

    /** Tells the peer a number, beside the memory. */
    boolean tell(long number);

    /** Ends the connection for the peer. Afterwards neither the peer nor the carrier touches the memory. Idempotent. */
    @Override
    void close();
}
