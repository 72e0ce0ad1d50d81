package dev.rackcall.rpc;

/**
 * A failed call. A handler throws it to choose the status and the trailers that the caller sees; a caller catches it.
 * Every failure of a peer appears as this exception.
 */
public final class RpcException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final transient Status status;
    private final transient Metadata trailers;
    private transient boolean fromCall;

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

    /**
     * Whether a call that this process made failed with it. If a handler lets such an exception out, its caller gets
     * UNKNOWN without the trailers, because the status is not about the handler's own server. To pass the status on, the
     * handler throws {@code e.status().asException()}.
     */
    public boolean isFromCall() {
        return fromCall;
    }

    /** Marks this as the failure of a call; for stubs. Returns this exception. */
    public RpcException fromCall() {
        fromCall = true;
        return this;
    }
}
