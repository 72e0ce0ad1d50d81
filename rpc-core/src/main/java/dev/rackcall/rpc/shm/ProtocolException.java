package dev.rackcall.rpc.shm;

/** A peer broke the protocol: its connection ends, nobody else's does. */
final class ProtocolException extends Exception {
    private static final long serialVersionUID = 1L;

    ProtocolException(String message) {
        super(message);
    }
}
