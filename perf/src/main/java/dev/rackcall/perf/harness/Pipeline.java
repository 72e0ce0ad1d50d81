package dev.rackcall.perf.harness;

import java.util.function.LongConsumer;

/** Several calls in flight from one thread. Confined to the thread that made it. */
public interface Pipeline {
    /**
     * Sends one call if the subject takes it now.
     *
     * @return false if the subject pushes back; the caller polls and tries again
     */
    boolean offer(long sequence) throws Exception;

    /**
     * Takes the replies that have arrived, checks each and hands its sequence to {@code done}; may wait for up to a
     * millisecond if there are none.
     *
     * @return how many replies were taken
     */
    int poll(LongConsumer done) throws Exception;
}
