package dev.rackcall.rpc;

/**
 * A route from a channel to an endpoint, with its state, as {@code rackcall explain} prints it.
 *
 * @param endpoint the server's id in the directory
 * @param host where it runs
 * @param kind how it is reached
 * @param address where; empty if the server has none of this kind
 * @param state whether calls use it
 * @param reason why it is in that state, as a sentence
 * @param calls counted calls in flight; only channels that balance load count theirs
 */
public record Route(String endpoint, String host, Kind kind, String address, State state, String reason, int calls) {
    /** Kinds of routes, best first. */
    public enum Kind {
        /** The memory of one process. */
        PROCESS("same process"),
        /** The same host: memory that the kernel shares. */
        HOST("host memory"),
        /** A pool that several hosts map. */
        POOL("pool memory"),
        /** Virtual queues of the control plane, which share the few queue pairs of their hosts' RDMA devices. */
        RDMA_QUEUES("virtual queues over RDMA"),
        /** An RDMA device, with a queue pair for the connection. */
        RDMA("RDMA"),
        /** Virtual queues of the control plane on the software device. */
        TCP_QUEUES("virtual queues over TCP"),
        /** The software device, over TCP. */
        TCP("software device over TCP");

        private final String text;

        Kind(String text) {
            this.text = text;
        }

        /** Whether both ends share memory: arguments are passed by pointer. */
        public boolean isMemory() {
            return this == PROCESS || this == HOST || this == POOL;
        }

        /** Whether the connection is over virtual queues of the control plane. */
        public boolean isQueue() {
            return this == RDMA_QUEUES || this == TCP_QUEUES;
        }

        /** For people. */
        @Override
        public String toString() {
            return text;
        }
    }

    /** Whether calls use a route, or why not. */
    public enum State {
        /** Calls use it. */
        USED,
        /** It works, but other routes are preferred for a while, because too many calls failed on this one. */
        EJECTED,
        /** No new calls use it. Its calls in flight still complete, and its scopes may still be open. */
        LEAVING,
        /** It is being tried for the first time; or its server has answered, but calls do not use it yet. */
        TRYING,
        /** It was not tried, because a better one works. */
        NOT_NEEDED,
        /** It was tried without success, and will be retried. */
        FAILED,
        /** One of the two ends lacks what this kind of route needs. */
        IMPOSSIBLE
    }
}
