package dev.rackcall.grpc.wire;

/** The peer has written something that no correct peer writes. Ends only its connection. */
public final class FrameBreachException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    public FrameBreachException(String message) {
        super(message);
    }
}
