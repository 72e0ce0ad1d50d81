package dev.rackcall.cp;

import dev.rackcall.verbs.MemoryRegion;

/**
 * Where messages for one port of this host arrive: those that virtual queues of other hosts, or of this one, push by
 * {@link dev.rackcall.verbs.WorkRequest#sendWithImmediate} with the port's number. AgentMessages of one virtual queue arrive in the order in which they were pushed. Short ones
 * (512 bytes) travel with their payload and are copied into the memory given for them; of longer ones only a note travels, and this host READs the payload from the sender's memory into that
 * given for it.
 *
 * <p>A message's request completes at its sender when the message is in memory that was given here. 1,024 messages may wait for memory, more are
 * refused ({@code RNR_RETRY_EXCEEDED}); no tenant may have more of these places than are free. Any thread may use it, one at a time.
 */
public interface MessagePort extends AutoCloseable {
    /** Its number, at which virtual queues send. */
    int number();

    /**
     * Gives memory for one message, which belongs to the port until {@link #receive} names this id. A message that is longer is refused and the memory serves the next.
     *
     * @param region of the same tenant, with the right LOCAL_WRITE
     * @return false if as many as a virtual queue has requests are given and not received: receive some, and try again
     * @throws ControlPlaneException QUEUE_FAILED if the port is closed or its agent has died
     * @throws IllegalArgumentException if the region does not allow that
     */
    boolean give(MemoryRegion region, long offset, int length, long id);

    /**
     * Takes messages that have come, in order, up to the batch's room. Never waits.
     *
     * @return how many
     * @throws ControlPlaneException QUEUE_FAILED if the port is closed or its agent has died, and nothing is left to be taken
     */
    int receive(Arrivals batch);

    /**
     * Ends it. Senders of messages that wait are told that nobody receives. A long message that is being fetched may still be written into the memory given for it: use that for something
     * else only when its region, or the tenant, has been closed.
     */
    @Override
    void close();

    /** @throws IllegalArgumentException if this range is not within the region */
    static void requireRange(MemoryRegion region, long offset, int length) {
        if (offset < 0 || length < 0 || offset > region.byteSize() - length) {
            throw new IllegalArgumentException(
                    length + " bytes at " + offset + " of a region of " + region.byteSize() + " bytes");
        }
    }
}
