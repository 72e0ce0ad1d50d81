package dev.rackcall.rpc;

/**
 * A call that did not succeed. A handler throws it to choose the status and the trailers that the caller sees; a caller catches it. No
 * failure of a peer shows as anything else.
 */
public final class RpcException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Status status;
    private final transient Metadata trailers;

    public RpcException(Status status) {
        this(status, Metadata.EMPTY, null);
    }

    public RpcException(Status status, Metadata trailers) {
        this(status, trailers, null);
    }

    public RpcException(Status status, Metadata trailers, Throwable cause) {
        super(status.toString(), cause);
        this.status = status;
        this.trailers = trailers;
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
