package dev.rackcall.rpc.shm.view;

import dev.rackcall.rpc.shm.protocol.ControlLayout;

/** What a connection's server says of it. */
public enum ConnectionState {
    /** It takes requests. */
    OPEN,
    /** It takes requests, but its server asks clients to leave. */
    DRAINING,
    /** It takes no more requests. */
    ENDED;

    static ConnectionState of(int word) throws InvalidMemoryException {
        return switch (word) {
            case ControlLayout.STATE_OPEN -> OPEN;
            case ControlLayout.STATE_DRAINING -> DRAINING;
            case ControlLayout.STATE_ENDED -> ENDED;
            default ->
                throw new InvalidMemoryException("its state is " + word + ", which no release of Rackcall writes");
        };
    }
}
