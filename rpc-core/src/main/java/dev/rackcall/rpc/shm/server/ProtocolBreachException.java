package dev.rackcall.rpc.shm.server;

/** A peer broke the protocol: its connection ends, others continue. */
final class ProtocolBreachException extends Exception {
    private static final long serialVersionUID = 1L;

    ProtocolBreachException(String message) {
        super(message);
    }
}
