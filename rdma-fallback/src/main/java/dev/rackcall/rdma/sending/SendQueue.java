package dev.rackcall.rdma.sending;

import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.WorkRequest;
import java.util.Optional;

/** Where the requests of one connection go, in order: a queue pair of its own, or a virtual queue. They are numbered from 1. Used with the lock of the {@link Sending} that has it. Allocates nothing. */
public interface SendQueue {
    /**
     * Posts the first of these. They may be used again at once.
     *
     * @return how many found room
     * @throws RuntimeException {@link dev.rackcall.verbs.VerbsException} or {@link dev.rackcall.cp.ControlPlaneException} if it takes none any more
     */
    int post(WorkRequest[] requests, int count);

    /**
     * Takes completions that are there, in order: of requests that are signaled, and of those that failed. Makes room for as many.
     *
     * @return how many entries of the batch are filled
     */
    int poll(Completions batch);

    /** Why it takes no requests any more, if it is known to and says why. */
    Optional<String> failure();
}
