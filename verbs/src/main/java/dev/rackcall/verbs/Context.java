package dev.rackcall.verbs;

import java.time.Duration;
import java.util.Optional;

/**
 * An opened device. All objects made from it must be closed before it; closing with objects left fails with EBUSY and changes nothing.
 * All methods may be called by any thread.
 */
public interface Context extends AutoCloseable {
    /** The device that was opened. */
    Device device();

    /** What the device can do. */
    DeviceAttributes attributes();

    /** State and addresses of a port, counted from 1, as they are now. */
    PortAttributes port(int port);

    /**
     * Checks that a port is not down, before something is connected over it. Nobody else says so: requests over a port that is down end as those to a peer that is
     * silent do, when their queue pair has waited long enough.
     *
     * @throws VerbsException ENETDOWN if it is; the message tells its state and what to do
     */
    default void requireUp(int port) {
        PortState state = port(port).state();
        if (state.isDown()) {
            throw new VerbsException(
                    "port " + port + " of " + device().name() + " is " + state,
                    VerbsErrno.ENETDOWN,
                    state.advice() + ", and try again");
        }
    }

    /** An entry of a port's GID table; {@link Gid#NONE} if unused. */
    Gid gid(int port, int index);

    /** Makes a protection domain. */
    ProtectionDomain allocateProtectionDomain();

    /** Makes a channel on which completion queues of this context announce completions. */
    CompletionChannel createCompletionChannel();

    /** Makes a completion queue. */
    CompletionQueue createCompletionQueue(CompletionQueueSpec spec);

    /**
     * Takes the next asynchronous event, waiting at most this long.
     *
     * @return empty if none came in time
     */
    Optional<AsyncEvent> awaitEvent(Duration atMost);

    /** Closes the device. */
    @Override
    void close();
}
