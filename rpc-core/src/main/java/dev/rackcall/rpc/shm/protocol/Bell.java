package dev.rackcall.rpc.shm.protocol;

import java.util.function.LongConsumer;

/**
 * How one end of a connection wakes the other, and learns that the other has ended. In shared memory a ring only wakes
 * a peer that does not poll. {@link MirroringBell} is for ends that have memory of their own. Thread-safe; nothing here
 * blocks or allocates.
 *
 * <p>A bell is closed before the connection's memory is unmapped. After {@link #close} has returned, neither this
 * process nor the peer uses that memory on the bell's behalf.
 */
public interface Bell extends AutoCloseable {
    /** A file descriptor that is readable while {@link #drain} has something to report; valid until {@link #close}. */
    int fd();

    /**
     * Makes the peer look at the memory.
     *
     * @return false if the peer is gone or this end is closed
     */
    boolean ring();

    /**
     * Sends the peer a number, outside the memory.
     *
     * @return whether it was sent; false also if too many are pending
     */
    boolean tell(long number);

    /**
     * Takes the rings that have come.
     *
     * @param numbers receives the numbers among them; from the peer, so anything
     * @return how many there were; -1 if there is none and the peer is gone, or this end is closed
     */
    int drain(LongConsumer numbers);

    /** Ends the connection for the peer. Idempotent. */
    @Override
    void close();
}
