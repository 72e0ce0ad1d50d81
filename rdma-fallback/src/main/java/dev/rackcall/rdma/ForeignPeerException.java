package dev.rackcall.rdma;

/** What answered is no end of a Rackcall connection, or one that cannot be spoken to. The message completes a sentence that names the peer. */
final class ForeignPeerException extends Exception {
    private static final long serialVersionUID = 1L;

    ForeignPeerException(String message) {
        super(message);
    }
}
