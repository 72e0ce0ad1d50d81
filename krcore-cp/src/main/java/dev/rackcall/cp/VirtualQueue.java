package dev.rackcall.cp;

import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.WorkRequest;
import java.util.Optional;

/**
 * A queue to one host that behaves like a reliable queue pair with a completion queue of its own, and is neither: requests go over queue pairs
 * that many share. READ, WRITE, atomics, and messages to a {@link MessagePort}, in order. Each request is copied and checked before it gets there. The first that is refused or
 * fails completes with an error and moves this queue, and only this one, to its error state, in which it takes no more.
 *
 * <p>Pushing belongs to one thread at a time, popping to one thread at a time. Neither makes objects while requests go to the same host and its
 * regions are known.
 */
public interface VirtualQueue extends AutoCloseable {
    /** The host it leads to. */
    HostId host();

    /** Which life of the host it leads to: after a restart the host has another one, and this queue an error. */
    int epoch();

    /** READY_TO_SEND, ERROR, or RESET once closed. */
    QueuePairState state();

    /** Why it is in its error state, and what to do. */
    Optional<String> failure();

    /**
     * Pushes a request; it may be used again at once. Its destination is ignored, its memory belongs to the device until the completion. With
     * an agent in this process, the first request to each memory region of the peer, and one after a pause of a second, waits for a READ, or
     * on devices without dynamically connected queue pairs for a control message, two seconds at most.
     *
     * @return false if there is no room now: pop completions, and try again
     * @throws ControlPlaneException QUEUE_FAILED if this queue is closed or in its error state
     */
    boolean push(WorkRequest request);

    /**
     * Pushes the first {@code count} requests of this list, in order.
     *
     * @return how many were taken; fewer if there was no room, or after one that was refused
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
     * Takes completions that are there, in order, up to the batch's room. Never waits.
     *
     * @return how many entries of the batch are filled
     */
    int pop(Completions batch);

    /**
     * Takes in what has come over the device, for whomever it is, on the calling thread. Who waits for a peer's WRITE into his memory calls it again and again while he looks
     * there, and so spares a software device's own thread; needed it is never. Does nothing unless it {@link #isMovedByLooks}. Allocates nothing; any thread may use it.
     */
    void look();

    /** Whether a {@link #look} can bring anything forward: with an agent in this process, over the software device. Hardware needs nobody, and another process looks itself. */
    boolean isMovedByLooks();

    /** Ends it. What is under way happens or not; nobody hears of it. */
    @Override
    void close();
}
