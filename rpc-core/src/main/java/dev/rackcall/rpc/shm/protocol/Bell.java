package dev.rackcall.rpc.shm.protocol;

import java.util.function.LongConsumer;

/**
 * How one end of a connection makes the other look at the memory, and learns that the other has ended. In shared memory a ring only wakes a peer that does
 * not watch. Where the two ends have memory of their own, nobody ever watches, so that every publication rings: there the ring also carries over what was
 * published. Thread-safe; nothing here blocks or allocates.
 *
 * <p>A bell is closed before the connection's memory is unmapped. After {@link #close} has returned nothing touches that memory on the bell's behalf, neither of
 * this process nor of its peer.
 */
public interface Bell extends AutoCloseable {
    /** A file descriptor that is readable while {@link #drain} has something to tell; valid until {@link #close}. */
    int fd();

    /**
     * Makes the peer look.
     *
     * @return false if the peer is gone or this end is closed
     */
    boolean ring();

    /**
     * Tells the peer a number, beside the memory.
     *
     * @return whether it was sent; false also if too many wait
     */
    boolean tell(long number);

    /**
     * Takes the rings that have come.
     *
     * @param numbers gets the numbers among them; from the peer, so anything
     * @return how many there were; -1 if there is none and the peer is gone, or this end is closed
     */
    int drain(LongConsumer numbers);

    /** Ends the connection for the peer. Idempotent. */
    @Override
    void close();
}
