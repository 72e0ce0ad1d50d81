package dev.rackcall.rdma.end;

import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.WorkRequest;
import java.util.Optional;

/**
 * Takes the requests of one connection, in order: a queue pair of its own, or a virtual queue. Requests are numbered
 * from 1. Used under the lock of its {@link MirrorCarrier}. Allocates nothing.
 */
public interface RequestQueue {
    /**
     * Posts the first of these requests; the caller may reuse them at once.
     *
     * @return how many found room
     * @throws RuntimeException {@link dev.rackcall.verbs.VerbsException} or {@link
     *     dev.rackcall.cp.ControlPlaneException} if the queue has failed
     */
    int post(WorkRequest[] requests, int count);

    /**
     * Takes completions of signaled and failed requests, in order, and frees their places.
     *
     * @return how many entries of the batch are filled
     */
    int poll(Completions batch);

    /** Why the queue takes no more requests, if it has failed and says why. */
    Optional<String> failure();
}
