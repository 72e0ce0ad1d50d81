package dev.rackcall.rdma.queue;

/** What has come is not what is spoken here. The message completes a sentence that names the peer. */
final class MalformedException extends Exception {
    private static final long serialVersionUID = 1L;

    MalformedException(String message) {
        super(message);
    }
}
