package dev.rackcall.rpc.schema;

/** A description that cannot be read: it is truncated, or was written by another release or a hostile peer. */
final class MalformedSchemaException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    MalformedSchemaException(String message) {
        super(message);
    }
}
