package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.LimitedLog;
import dev.rackcall.sandbox.IsolationEvents;
import dev.rackcall.shm.EndedMemoryException;
import dev.rackcall.shm.NullRefException;
import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.ReadOnlyObjectException;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.ScopeException;
import dev.rackcall.shm.StaleObjectException;
import dev.rackcall.shm.codec.PayloadException;
import dev.rackcall.shm.types.SharedDataException;
import java.util.concurrent.CompletionException;

/** What a caller is told about an exception at the server. */
record Failure(Status status, Metadata trailers) {
    private static final LimitedLog LOG = LimitedLog.of(Failure.class);

    /**
     * The failure to report.
     *
     * @param encoding whether the handler had returned, so that a malformed payload is its result and not its argument
     * @param isolated whether a Ref or length that leaves the arguments' scope is a sandbox violation
     * @param over whether the call's deadline has passed, or it was cancelled
     */
    static Failure of(Throwable cause, String method, boolean encoding, boolean isolated, boolean over) {
        try {
            return judge(cause, method, encoding, isolated, over);
        } catch (RuntimeException | Error e) {
            // The exception's own methods may throw, too.
            return plain(Status.Code.UNKNOWN.with(
                    "%s: the handler threw %s, which cannot be described",
                    method, cause.getClass().getName()));
        }
    }

    private static Failure judge(Throwable cause, String method, boolean encoding, boolean isolated, boolean over) {
        return switch (cause) {
            case RpcException e when e.isFromCall() -> plain(ofNestedCall(method, "handler", e.status(), over));
            case RpcException e -> new Failure(e.status(), e.trailers());
            case CompletionException e
            when e.getCause() != null -> judge(e.getCause(), method, encoding, isolated, over);
            case PayloadException e
            when encoding ->
                plain(Status.Code.INTERNAL.with("%s: the handler's result cannot be sent: %s", method, e.getMessage()));
            case PayloadException e -> plain(Status.Code.INVALID_ARGUMENT.with("%s: %s", method, e.getMessage()));
            case StaleObjectException e -> plain(stale(method, e));
            case EndedMemoryException e -> plain(stale(method, e));
            case NullRefException e -> plain(Status.Code.INVALID_ARGUMENT.with("%s: %s", method, e.getMessage()));
            case RefException e when isolated -> plain(breach(method, e));
            case SharedDataException e when isolated -> plain(breach(method, e));
            case RefException e -> plain(Status.Code.INVALID_ARGUMENT.with("%s: %s", method, e.getMessage()));
            case SharedDataException e -> plain(Status.Code.INVALID_ARGUMENT.with("%s: %s", method, e.getMessage()));
            case ReadOnlyObjectException e -> misuse(method, e);
            case ScopeException e -> misuse(method, e);
            case OutOfArenaException e ->
                // The advice comes first: in a full arena, an answer has room for the beginning of its text only.
                plain(Status.Code.RESOURCE_EXHAUSTED.with(
                        "%s: %s%s", method, e.advice().isEmpty() ? "" : e.advice() + "; ", e.problem()));
            default -> {
                // As in gRPC: an unexpected exception's details stay in the server's log.
                LOG.warn(
                        "{}: the handler threw {}; its caller, if one waits, gets UNKNOWN",
                        method,
                        cause.toString(),
                        cause);
                yield plain(Status.Code.UNKNOWN.with(
                        "%s: the handler threw %s; the server's log has the rest",
                        method, cause.getClass().getSimpleName()));
            }
        };
    }

    /**
     * The status of another server, which the handler called, would mislead the caller: this server is not unavailable,
     * and the arguments that are wrong are not the caller's. As in gRPC, a handler passes a status on explicitly. Only a
     * call that is over itself passes on why: its nested calls inherit its deadline and its cancellation.
     *
     * @param maker what made the nested call
     */
    private static Status ofNestedCall(String method, String maker, Status status, boolean over) {
        boolean isInherited =
                over && (status.code() == Status.Code.DEADLINE_EXCEEDED || status.code() == Status.Code.CANCELLED);
        Status.Code code = isInherited ? status.code() : Status.Code.UNKNOWN;
        return code.with("%s: a call that its %s made failed: %s", method, maker, status);
    }

    /** A call that an interceptor made failed, so the handler's call does. */
    static Status ofInterceptorsCall(String method, Class<?> interceptor, Status nested, boolean over) {
        return ofNestedCall(method, "interceptor " + interceptor.getName(), nested, over);
    }

    /** The handler has stored or allocated where it may not. */
    private static Failure misuse(String method, RuntimeException cause) {
        LOG.warn("{}: the handler misused a shared object", method, cause);
        return plain(
                Status.Code.INTERNAL.with("%s: its handler misused a shared object: %s", method, cause.getMessage()));
    }

    /**
     * The status of an isolated call whose arguments pointed out of their scope. Also recorded as an event at the
     * server.
     */
    static Status breach(String method, RuntimeException cause) {
        IsolationEvents.violation(IsolationEvents.Violation.SANDBOX, method, cause.getMessage());
        return Status.Code.PERMISSION_DENIED.with("%s: %s", method, cause.getMessage());
    }

    /** A mistake in an interceptor: the caller gets its name, and the server's log has the details. */
    static Status ofInterceptor(String method, Class<?> interceptor, Throwable thrown) {
        LOG.warn("{}: the interceptor {} threw", method, interceptor.getName(), thrown);
        return Status.Code.INTERNAL.with(
                "%s: the server's interceptor %s threw %s; the server's log has the rest",
                method, interceptor.getName(), thrown.getClass().getSimpleName());
    }

    /** The status of a failure that was reported before; {@code over} as in {@link #of}. */
    static Status statusOf(Throwable cause, String method, boolean over) {
        return cause instanceof RpcException e
                ? e.isFromCall() ? ofNestedCall(method, "handler", e.status(), over) : e.status()
                : Status.Code.UNKNOWN.with(
                        "%s: the handler threw %s", method, cause.getClass().getName());
    }

    /** A mistake in the handler, so the server logs it, too. */
    private static Status stale(String method, RuntimeException cause) {
        LOG.warn(
                "{}: the handler used a shared object whose memory its owner had freed, such as an argument kept from an"
                        + " earlier call; copy what has to last, or take it over by RpcContext.adopt",
                method,
                cause);
        return Status.Code.INTERNAL.with(
                "%s: the handler used a shared object whose memory was freed before; the server's log has the rest",
                method);
    }

    private static Failure plain(Status status) {
        return new Failure(status, Metadata.EMPTY);
    }
}
