package dev.rackcall.rpc;

/**
 * Which threads run a server's handlers.
 *
 * <ul>
 *   <li>{@link #direct()}: the polling thread of the connection. Lowest latency; for handlers of microseconds. A handler that
 *       takes longer than {@code RpcServer.Builder.stuckAfter}, perhaps because the host is busy, keeps its thread, and
 *       another thread takes over polling. A client's calls are handled in the order in which they were sent, except
 *       those that overtake such a handler.
 *   <li>{@link #workers(int)}: a fixed pool. For handlers that compute for long.
 *   <li>{@link #virtualThreads()}: a virtual thread per call. For handlers that block.
 * </ul>
 *
 * @param kind which threads
 * @param threads size of the pool, for {@link Kind#WORKERS}; else 0
 */
public record Dispatch(Kind kind, int threads) {
    /** The kinds of threads. */
    public enum Kind {
        DIRECT,
        WORKERS,
        VIRTUAL_THREADS
    }

    public Dispatch {
        if (kind == Kind.WORKERS && threads < 1) {
            throw new IllegalArgumentException("a worker pool needs at least 1 thread, not " + threads);
        }
    }

    public static Dispatch direct() {
        return new Dispatch(Kind.DIRECT, 0);
    }

    public static Dispatch workers(int threads) {
        return new Dispatch(Kind.WORKERS, threads);
    }

    public static Dispatch virtualThreads() {
        return new Dispatch(Kind.VIRTUAL_THREADS, 0);
    }
}
