package dev.rackcall.verbs;

import java.time.Duration;
import java.util.Optional;

/**
 * An open device. Close all objects created from it first; closing it with objects left fails with EBUSY and changes
 * nothing. Any thread may call any method.
 */
public interface Context extends AutoCloseable {
    /** The device. */
    Device device();

    /** The device's capabilities. */
    DeviceAttributes attributes();

    /** The current state and addresses of a port. Ports are numbered from 1. */
    PortAttributes port(int port);

    /**
     * Checks that a port is not down. Call this before connecting: requests over a port that is down only time out,
     * like requests to a silent peer.
     *
     * @throws VerbsException ENETDOWN if the port is down; the message names its state and what to do
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

    /**
     * Why the device with this GID could not be reached, for a message to the user after a request has failed. Only a
     * device that makes connections of its own knows: it is always empty for a real device.
     */
    default Optional<Unreachable> unreachable(Gid peer) {
        return Optional.empty();
    }

    /** Creates a protection domain. */
    ProtectionDomain allocateProtectionDomain();

    /** Creates a channel for notifications of this context's completion queues. */
    CompletionChannel createCompletionChannel();

    /** Creates a completion queue. */
    CompletionQueue createCompletionQueue(CompletionQueueSpec spec);

    /**
     * Returns the next asynchronous event; waits at most this long.
     *
     * @return the event, or empty if none was raised in time
     */
    Optional<AsyncEvent> awaitEvent(Duration atMost);

    /** Closes the device. */
    @Override
    void close();
}
