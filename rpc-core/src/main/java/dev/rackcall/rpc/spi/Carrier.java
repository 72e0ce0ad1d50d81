package dev.rackcall.rpc.spi;

import dev.rackcall.rpc.Status;
import dev.rackcall.shm.os.file.SharedFile;
import java.util.Optional;

/**
 * Carries what one end of a connection has written into the memory of the other end, at the same offsets. Everything arrives in the order in which it was
 * given, by whichever thread; what is carried or stored sets out with what is published next, or at {@link #flush}. Thread-safe; methods wait for room on the way, at
 * most as long as the carrier bears a peer that takes nothing.
 *
 * <p>Whoever waits for the peer spins, and {@link #look looks} meanwhile; or sleeps, and {@link #listen listens} before.
 *
 * <p>Methods that return false have found the peer gone, or the carrier closed; what was given before may or may not have arrived.
 */
public interface Carrier extends AutoCloseable {
    /** What the peer does. Called by threads of the carrier, one at a time, which must not be held up. */
    interface Arrivals {
        /**
         * Somebody who sleeps should look at the memory: the peer has {@link Carrier#proclaim proclaimed} something, or {@link Carrier#publish published} it after this
         * side began to {@link Carrier#listen listen}. Also called without need.
         */
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

    /** As {@link #store}, and then lets those at the peer know who look or listen. */
    boolean publish(long offset, long value);

    /** As {@link #publish}, of what somebody should hear of who neither looks nor listens. */
    boolean proclaim(long offset, long value);

    /** Lets set out what was carried and stored. */
    boolean flush();

    /** Tells the peer a number, beside the memory. */
    boolean tell(long number);

    /** Takes in what has arrived, on the calling thread. To be called again and again by a thread that spins for a change in the memory. Allocates nothing. */
    void look();

    /** About how many pauses of a processor a {@link #look} takes that finds nothing. */
    int pausesPerLook();

    /** The next publication is to be {@link Arrivals#published told of}. To be called by a thread that is about to sleep, before its last look at the memory. */
    void listen();

    /**
     * Where {@link #fetch} reads into. To be called once, before that.
     *
     * @param area a file that the caller reserves as it fetches, and keeps open; the carrier maps it for itself until it is closed
     */
    void fetchInto(SharedFile area);

    /**
     * Reads bytes of the peer's memory into the area, as they are there now, and waits for them.
     *
     * @param offset in the peer's memory
     * @param areaOffset where in the area they go
     * @param deadline {@link System#nanoTime} until which to wait
     * @return false if the peer is gone, or has not answered in time; the bytes may still come then
     */
    boolean fetch(long offset, long areaOffset, long length, long deadline);

    /**
     * Why it has ended, described by a clause, if more is known than that the peer is gone: RESOURCE_EXHAUSTED if one of the ends lacks what such a connection needs, so that the next one
     * would soon end, too; otherwise UNAVAILABLE. Only after {@link Arrivals#ended}.
     */
    default Optional<Status> endCause() {
        return Optional.empty();
    }

    /** Ends the connection for the peer. Afterwards neither the peer nor the carrier touches the memory. Idempotent. */
    @Override
    void close();
}
