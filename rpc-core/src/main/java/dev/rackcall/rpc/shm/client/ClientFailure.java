package dev.rackcall.rpc.shm.client;

import dev.rackcall.rpc.Status;
import dev.rackcall.shm.codec.PayloadException;

/** The failures that a client finds by itself. A failure that the server reports is a {@code Failure}. */
final class ClientFailure {
    private ClientFailure() {}

    /** @param late whether the deadline had passed before the answer was first waited for */
    static Status deadlineExceeded(String method, boolean late) {
        return late
                ? Status.Code.DEADLINE_EXCEEDED.with(
                        "%s: its deadline had passed, or nearly so, before the call was sent. It is"
                                + " the earliest of what CallOptions say and the deadline of the call that is being served here",
                        method)
                : Status.Code.DEADLINE_EXCEEDED.with(
                        "%s: no answer before the deadline; the handler may still be running", method);
    }

    static Status interrupted(String method) {
        return Status.Code.CANCELLED.with(
                "%s: its caller's thread was interrupted while it waited; the server is told to stop. The interrupt flag is"
                        + " still set, so clear it before the next call",
                method);
    }

    /** The thread was interrupted before its call had a slot, so the server knows nothing of the call. */
    static Status interruptedUnsent(String channel) {
        return Status.Code.CANCELLED.with(
                "channel %s: the caller's thread was interrupted while it waited for a free slot; the call was not sent. The"
                        + " interrupt flag is still set, so clear it before the next call",
                channel);
    }

    /** The server, which is not trusted, sent an answer that no server of this version sends. */
    static Status malformedAnswer(String method, String what) {
        return Status.Code.INTERNAL.with("%s: the server answered with %s; it is broken or hostile", method, what);
    }

    static Status unreadableAnswer(String method, PayloadException cause) {
        return Status.Code.INTERNAL.with("%s: the server's answer cannot be read: %s", method, cause.getMessage());
    }

    /** The generated code that reads the answer failed. */
    static Status decodingFailed(String method, Throwable cause) {
        return Status.Code.INTERNAL.with("%s: decoding the server's answer failed: %s", method, cause);
    }

    static Status unsuitableArgument(String method, PayloadException cause) {
        return Status.Code.INVALID_ARGUMENT.with("%s: %s", method, cause.getMessage());
    }

    static Status encodingFailed(String method, Throwable cause) {
        return Status.Code.INTERNAL.with("%s: encoding failed: %s", method, cause);
    }

    /** Encoding failed with an exception that the call did not see. */
    static Status notEncoded(String method) {
        return Status.Code.INTERNAL.with("%s: its arguments could not be encoded", method);
    }
}
