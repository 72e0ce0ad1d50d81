package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.Status;
import dev.rackcall.shm.os.file.SharedFile;
import java.util.Optional;

/**
 * Carries what one end of a connection has written into the other end's memory, at the same offsets and in the given
 * order, from any thread. Carried and stored bytes are sent with the next publication, or at {@link #flush}.
 * Thread-safe. Methods wait for room until the carrier gives up on a peer that accepts nothing.
 *
 * <p>A thread that waits for the peer spins and {@link #look looks}, or {@link #listen listens} and sleeps.
 *
 * <p>Methods return false if the peer is gone or the carrier closed; earlier bytes may or may not have arrived.
 */
public interface Carrier extends AutoCloseable {
    /** Is notified of what the peer does. Called by one of the carrier's threads at a time; must not block. */
    interface Arrivals {
        /**
         * A sleeping thread should check the memory: the peer has {@link Carrier#proclaim proclaimed} something, or
         * {@link Carrier#publish published} it after this side began to {@link Carrier#listen listen}. May be called
         * spuriously.
         */
        void published();

        /** The peer has {@link Carrier#tell told} this number, which may be anything. */
        void told(long number);

        /** The peer is gone. Called once, last; not after {@link Carrier#close}. */
        void ended();
    }

    /** Begins to report arrivals, including earlier ones. Called once. */
    void start(Arrivals arrivals);

    /** The peer's {@link System#nanoTime} minus this process's, as measured when the two connected. */
    long clockAhead();

    /** Carries bytes that stay unchanged until the peer has answered. */
    boolean carry(long offset, long length);

    /** Carries the bytes that the peer does not have yet; they may be overwritten at once. */
    boolean carryChanged(long offset, long length);

    /** Carries 8 bytes, which need not be in the memory. The offset is a multiple of 8. */
    boolean store(long offset, long value);

    /** As {@link #store}, and notifies the peer's threads that look or listen. */
    boolean publish(long offset, long value);

    /** As {@link #publish}, and notifies the peer even if no thread looks or listens. */
    boolean proclaim(long offset, long value);

    /**
     * Whether many requests already wait for room, so that further ones may have to wait for a long time. A hint for
     * threads that must not wait.
     */
    default boolean isCrowded() {
        return false;
    }

    /** Sends what was carried and stored. */
    boolean flush();

    /** Sends the peer a number, outside the memory. */
    boolean tell(long number);

    /**
     * Processes what has arrived, on the calling thread. Called repeatedly by a thread that spins. Allocates nothing.
     */
    void look();

    /**
     * Whether another process of this host moves the traffic, and may need the processor of a thread that spins. A
     * caller that spins for its answer then yields between its looks. Constant.
     */
    default boolean isMovedByProcess() {
        return false;
    }

    /**
     * Requests that the next publication is {@link Arrivals#published reported}. Called by a thread that is about to
     * sleep, before its last check of the memory.
     */
    void listen();

    /**
     * Sets the area into which {@link #fetch} reads. Called once, before the first fetch.
     *
     * @param area a file that the caller reserves as it fetches, and keeps open; the carrier has its own mapping until
     *     it is closed
     */
    void fetchInto(SharedFile area);

    /**
     * Reads bytes of the peer's memory into the area, and waits for them.
     *
     * @param offset in the peer's memory
     * @param areaOffset in the area
     * @param deadline {@link System#nanoTime} until which to wait
     * @return false if the peer is gone, or has not answered in time; the bytes may still arrive later
     */
    boolean fetch(long offset, long areaOffset, long length, long deadline);

    /**
     * A clause that says why the connection has ended, if a more specific cause than a lost peer is known.
     * RESOURCE_EXHAUSTED if an end lacks what every such connection needs; otherwise UNAVAILABLE. Only after {@link
     * Arrivals#ended}.
     */
    default Optional<Status> endCause() {
        return Optional.empty();
    }

    /**
     * Closes at once, without waiting for what was sent to arrive: for a peer that has broken the protocol, or after a
     * failure.
     */
    default void hangUp() {
        close();
    }

    /** Ends the connection for the peer. Afterwards neither the peer nor the carrier touches the memory. Idempotent. */
    @Override
    void close();
}
