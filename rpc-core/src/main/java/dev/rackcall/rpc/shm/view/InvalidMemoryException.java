package dev.rackcall.rpc.shm.view;

/** The memory of a connection makes no sense: a process overwrote it, or it is something else. */
public final class InvalidMemoryException extends Exception {
    private static final long serialVersionUID = 1L;

    InvalidMemoryException(String message) {
        super(message);
    }
}
