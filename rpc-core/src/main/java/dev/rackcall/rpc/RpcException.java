package dev.rackcall.rpc;

/**
 * A call that did not succeed. A handler throws it to choose the status and the trailers that the caller sees; a caller catches it. No
 * failure of a peer shows as anything else.
 */
public final class RpcException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Status status;
    private final transient Metadata trailers;

    /** @throws IllegalArgumentException if the status is OK: a call that ends so has not failed */
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

    /** Details that the server attached; empty if none. */
    public Metadata trailers() {
        return trailers;
    }
}
