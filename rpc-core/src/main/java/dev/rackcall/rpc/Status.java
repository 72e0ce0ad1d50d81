package dev.rackcall.rpc;

import java.util.Objects;

/**
 * How a call ended: a code with the meaning that gRPC gives it, and a sentence for people. Immutable.
 *
 * @param code what happened
 * @param description which values were involved and what to do next; never null, may be empty
 */
public record Status(Code code, String description) {
    /** The canonical codes; numbers and meanings as in gRPC. */
    public enum Code {
        OK,
        CANCELLED,
        UNKNOWN,
        INVALID_ARGUMENT,
        DEADLINE_EXCEEDED,
        NOT_FOUND,
        ALREADY_EXISTS,
        PERMISSION_DENIED,
        RESOURCE_EXHAUSTED,
        FAILED_PRECONDITION,
        ABORTED,
        OUT_OF_RANGE,
        UNIMPLEMENTED,
        INTERNAL,
        UNAVAILABLE,
        DATA_LOSS,
        UNAUTHENTICATED;

        private static final Code[] BY_NUMBER = values();

        /** The number in messages; equal to gRPC's. */
        public int number() {
            return ordinal();
        }

        /** The code of a number, or {@link #UNKNOWN} if there is none: peers are not trusted to send valid numbers. */
        public static Code ofNumber(int number) {
            return number >= 0 && number < BY_NUMBER.length ? BY_NUMBER[number] : UNKNOWN;
        }

        /** A status of this code. */
        public Status with(String description) {
            return new Status(this, description);
        }

        /** A status of this code with the description made by {@link String#format}. */
        public Status with(String format, Object... values) {
            return new Status(this, String.format(format, values));
        }
    }

    public static final Status OK = new Status(Code.OK, "");

    public Status {
        Objects.requireNonNull(code, "code");
        Objects.requireNonNull(description, "description");
    }

    public boolean isOk() {
        return code == Code.OK;
    }

    public RpcException asException() {
        return new RpcException(this);
    }

    public RpcException asException(Throwable cause) {
        return new RpcException(this, Metadata.EMPTY, cause);
    }

    @Override
    public String toString() {
        return description.isEmpty() ? code.name() : code + ": " + description;
    }
}
