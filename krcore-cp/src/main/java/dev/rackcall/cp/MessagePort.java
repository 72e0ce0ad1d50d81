package dev.rackcall.cp;

import dev.rackcall.verbs.MemoryRegion;

/**
 * Receives the messages that virtual queues push to one port of this host with
 * {@link dev.rackcall.verbs.WorkRequest#sendWithImmediate}. Messages of one virtual queue arrive in the order in which
 * they were pushed. A message of up to 512 bytes travels with its payload, which is copied into the memory given for
 * it. For a longer message only a header is sent, and this host READs the payload from the sender's memory.
 *
 * <p>The sender's request completes when the message is in memory that was given to this port. Up to 1,024 messages
 * wait for memory; more are refused with {@code RNR_RETRY_EXCEEDED}. A sending tenant gets no further place once it
 * holds as many places as are free. Any thread may use a port, one at a time.
 */
public interface MessagePort extends AutoCloseable {
    /** The number that senders use. */
    int number();

    /**
     * Gives memory for one message. The memory belongs to the port until {@link #receive} returns this id. If a message
     * is longer, it is refused and the memory serves the next one.
     *
     * @param region of the same tenant, with the right LOCAL_WRITE
     * @return false if the port holds its maximum number of memory pieces, which is the depth of a virtual queue:
     *     receive messages, and try again
     * @throws ControlPlaneException QUEUE_FAILED if the port is closed or its agent has died
     * @throws IllegalArgumentException if the tenant may not write this range
     */
    boolean give(MemoryRegion region, long offset, int length, long id);

    /**
     * Takes messages that have arrived, in order, up to the batch's capacity. Never waits.
     *
     * @return the number of messages taken
     * @throws ControlPlaneException QUEUE_FAILED if the port is closed or its agent has died, and no message is left
     */
    int receive(Arrivals batch);

    /**
     * Closes the port. Senders of messages that still wait get an error. A long message that is being fetched may still
     * be written into its memory: reuse that memory only after its region or the tenant is closed.
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
