package dev.rackcall.rdma.end;

/** The peer does not speak Rackcall's protocol. The message completes a sentence that names the peer. */
public final class ForeignPeerException extends Exception {
    private static final long serialVersionUID = 1L;

    public ForeignPeerException(String message) {
        super(message);
    }
}
