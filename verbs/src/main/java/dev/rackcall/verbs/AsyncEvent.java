package dev.rackcall.verbs;

import java.util.Objects;

/**
 * An event that no completion reports (struct ibv_async_event).
 *
 * @param type what happened
 * @param element the queue pair number or port number concerned; 0 for other events
 */
public record AsyncEvent(Type type, int element) {
    /** Checks that there is a type. */
    public AsyncEvent {
        Objects.requireNonNull(type, "type");
    }

    /** What happened (enum ibv_event_type, in the same order). */
    public enum Type {
        /** A completion queue overflowed. */
        CQ_ERROR,
        /** A queue pair went to the error state. */
        QP_FATAL,
        /** A peer sent a request that the queue pair does not accept. */
        QP_REQUEST_ERROR,
        /** A peer violated access rights. */
        QP_ACCESS_ERROR,
        /** A queue pair in state RTR received its first message. */
        COMMUNICATION_ESTABLISHED,
        /** The send queue is drained. */
        SEND_QUEUE_DRAINED,
        /** The path changed. */
        PATH_MIGRATED,
        /** The path could not change. */
        PATH_MIGRATION_ERROR,
        /** The device failed. */
        DEVICE_FATAL,
        /** A port came up. */
        PORT_ACTIVE,
        /** A port went down. */
        PORT_ERROR,
        /** A port's local address changed. */
        LID_CHANGE,
        /** A port's partition keys changed. */
        PKEY_CHANGE,
        /** The subnet manager changed. */
        SUBNET_MANAGER_CHANGE,
        /** A shared receive queue failed. */
        SRQ_ERROR,
        /** A shared receive queue has fewer entries than its limit. */
        SRQ_LIMIT_REACHED,
        /** The last work request before a reset was consumed. */
        QP_LAST_WORK_REQUEST,
        /** The subnet manager requests clients to register again. */
        CLIENT_REREGISTER,
        /** A port's GID table changed. */
        GID_CHANGE,
        /** A work queue failed. */
        WORK_QUEUE_FATAL,
        /** A number unknown to this version. */
        UNKNOWN;

        private static final Type[] ALL = values();

        /** From libibverbs' number. */
        public static Type ofCode(int code) {
            return code >= 0 && code < UNKNOWN.ordinal() ? ALL[code] : UNKNOWN;
        }
    }
}
