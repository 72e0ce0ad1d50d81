package dev.rackcall.rpc.spi;

import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/** A transport that serves. Thread-safe. */
public interface ServerEndpoint extends AutoCloseable {
    /** Accepts no new connections and tells clients to connect elsewhere; calls in flight continue. Returns at once. */
    void drain();

    /** Waits until no call is in flight; returns whether that happened in time. Only after {@link #drain}. */
    boolean awaitDrained(Duration bound);

    /** Ends everything; calls in flight end with UNAVAILABLE at the caller. */
    @Override
    void close();

    /** The addresses for clients that share no memory with this process; empty if there are none. */
    default List<URI> addresses() {
        return List.of();
    }

    /**
     * What tells it apart from other servers of its channels: the id of its sockets in the runtime directory, or of its
     * doors in the pool; empty if it serves no memory.
     */
    default Optional<String> instance() {
        return Optional.empty();
    }

    /**
     * Sets what is run if this endpoint may serve no longer, because another server took its exclusive name while this
     * process was stopped. Must not block. Called right after the start.
     */
    default void onLost(Runnable action) {}

    /** Connections that are open now. */
    int connections();

    /**
     * Calls of all clients that have not ended: running handlers, and requests that were waiting for a polling thread
     * when it last counted them. Each call of this method triggers the next count. Approximate while calls come and go.
     * Does not wait.
     */
    int callsUnderWay();
}
