package dev.rackcall.rpc.shm.protocol;

import dev.rackcall.shm.os.socket.EventPoll;
import java.util.function.LongConsumer;

/**
 * Wakes the other end of a connection, and detects that the other end has ended. In shared memory a ring only wakes a
 * peer that does not poll. {@link MirroringBell} is for ends that have memory of their own. Thread-safe; nothing here
 * blocks or allocates.
 *
 * <p>A bell is closed before the connection's memory is unmapped. After {@link #close} has returned, neither this
 * process nor the peer uses that memory on the bell's behalf.
 */
public interface Bell extends AutoCloseable {
    /**
     * Makes {@code poll} report this tag while {@link #drain} has something to report.
     *
     * @return false if this end is closed
     */
    boolean watch(EventPoll poll, long tag);

    /** Ends {@link #watch}. */
    void unwatch(EventPoll poll);

    /**
     * Makes the peer check the memory.
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
     * Takes the rings that have arrived.
     *
     * @param numbers receives the numbers among them, which an untrusted peer chose
     * @return the number of rings; -1 if this end is closed, or if no ring is left and the peer is gone
     */
    int drain(LongConsumer numbers);

    /**
     * As {@link #drain}, but may leave what comes after the first ring; {@code poll} then reports the tag again. For the end
     * at which several rings are rare.
     */
    default int drainToRing(LongConsumer numbers) {
        return drain(numbers);
    }

    /** Ends the connection for the peer. Idempotent. */
    @Override
    void close();
}
