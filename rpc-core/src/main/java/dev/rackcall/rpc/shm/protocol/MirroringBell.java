package dev.rackcall.rpc.shm.protocol;

import dev.rackcall.rpc.Status;
import java.util.Optional;

/** The bell of a connection whose two ends have memory of their own: it also carries over what was published. Thread-safe. */
public interface MirroringBell extends Bell {
    /**
     * Carries over what was published before this call, and makes the peer check its memory.
     *
     * @return false if the peer is gone or this end is closed
     */
    boolean push();

    /** Takes in what has arrived. Called repeatedly by a thread that spins for it. */
    void look();

    /** As {@link dev.rackcall.rpc.spi.Carrier#isMovedByProcess}. */
    boolean isMovedByProcess();

    /**
     * Makes the peer's next publication ring here. Called by a thread about to sleep, before its last check of the
     * memory.
     */
    void listen();

    /** Why the connection has ended, if the carrier can tell more than that the peer is gone. Only after the end. */
    Optional<Status> endCause();
}
