package dev.rackcall.cp;

import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.WorkRequest;
import java.util.Optional;

/**
 * A queue to one host that behaves like a reliable queue pair with its own completion queue, while its requests go over
 * queue pairs that many virtual queues share. It carries READ, WRITE, atomics, and messages to a {@link MessagePort},
 * in order. Each request is copied and checked before it is posted. The first request that is refused or fails
 * completes with an error and moves this queue, and no other, to its error state, where it takes no more requests.
 *
 * <p>One thread at a time may push, and one may pop. Neither allocates while requests go to the same host and its
 * regions are known.
 */
public interface VirtualQueue extends AutoCloseable {
    /** The host at the other end. */
    HostId host();

    /** The epoch of that host's life. A restarted host has another epoch, and this queue fails. */
    int epoch();

    /** READY_TO_SEND, ERROR, or RESET once closed. */
    QueuePairState state();

    /** Why it is in its error state, and what to do. */
    Optional<String> failure();

    /**
     * Pushes a request, which the caller may reuse at once. Its destination is ignored; its memory belongs to the
     * device until the completion. With an agent in this process, the first request to a region of the peer, and one
     * after a pause of a second, waits for a READ. On devices without dynamically connected queue pairs it waits for a
     * control message, two seconds at most.
     *
     * @return false if there is no room now: pop completions, and try again
     * @throws ControlPlaneException QUEUE_FAILED if this queue is closed or in its error state
     */
    boolean push(WorkRequest request);

    /**
     * Pushes a message, as {@link #push(WorkRequest)}, and lets the receiver's agent know two regions of this tenant,
     * which the receiver will use next: its first requests there need no READ of this host's table.
     *
     * @param message any other request takes no notice of the regions
     */
    boolean push(WorkRequest message, MemoryRegion first, MemoryRegion second);

    /**
     * Pushes the first {@code count} requests of this list, in order.
     *
     * @return how many were taken; fewer if there was no room, or after a request that was refused
     */
    default int push(WorkRequest[] requests, int count) {
        for (int i = 0; i < count; i++) {
            if ((i > 0 && state() == QueuePairState.ERROR) || !push(requests[i])) {
                return i;
            }
        }
        return count;
    }

    /**
     * Takes completions, in order, up to the batch's capacity. Never waits.
     *
     * @return how many entries of the batch are filled
     */
    int pop(Completions batch);

    /**
     * Polls the device on the calling thread, for all its users. A thread that spins for a peer's WRITE into its memory
     * can call this in its loop to relieve a software device's own thread. It is never required, and does nothing
     * unless {@link #isMovedByLooks}. Allocates nothing; any thread may call it.
     */
    void look();

    /**
     * Called by a thread that has called {@link #look} in its loop and is about to sleep: the software device's own
     * thread takes over at once. Otherwise it would take over only after some milliseconds.
     */
    void rest();

    /**
     * Whether {@link #look} has an effect: only with an agent in this process that uses the software device. Hardware
     * needs no polling thread, and an agent process polls by itself.
     */
    boolean isMovedByLooks();

    /** Closes the queue. Requests in flight may or may not be carried out; their completions are dropped. */
    @Override
    void close();
}
