package dev.rackcall.rpc;

/**
 * A failed call. A handler throws it to choose the status and the trailers that the caller sees; a caller catches it.
 * Every failure of a peer appears as this exception.
 */
public final class RpcException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Status status;
    private final transient Metadata trailers;

    /** @throws IllegalArgumentException if the status is OK, which is not a failure */
    public RpcException(Status status) {
        this(status, Metadata.EMPTY, null);
    }

    public RpcException(Status status, Metadata trailers) {
        this(status, trailers, null);
    }

    public RpcException(Status status, Metadata trailers, Throwable cause) {
        super(requireFailure(status).toString(), cause);
        this.status = status;
        this.trailers = trailers;
    }

    private static Status requireFailure(Status status) {
        if (status.code() == Status.Code.OK) {
            throw new IllegalArgumentException("the status of an exception is never OK; a call that succeeds returns");
        }
        return status;
    }

    public Status status() {
        return status;
    }

    public Status.Code code() {
        return status.code();
    }

    /** Details from the server; empty if none. */
    public Metadata trailers() {
        return trailers;
    }
}
