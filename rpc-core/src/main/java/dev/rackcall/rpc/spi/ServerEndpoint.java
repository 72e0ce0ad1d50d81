package dev.rackcall.rpc.spi;

import java.net.URI;
import java.time.Duration;
import java.util.List;

/** A transport that serves. Thread-safe. */
public interface ServerEndpoint extends AutoCloseable {
    /** Takes no new connections and tells clients to go elsewhere; calls under way go on. Returns at once. */
    void drain();

    /** Waits until no call is under way any more. Only after {@link #drain}. Returns whether that happened in time. */
    boolean awaitDrained(Duration bound);

    /** Ends everything; calls under way end with UNAVAILABLE at the caller. */
    @Override
    void close();

    /** Where clients connect that share no memory with this process; none if they may not. */
    default List<URI> addresses() {
        return List.of();
    }

    /** Connections that are open now. */
    int connections();

    /**
     * Calls of all clients that are here and have not ended: whose handlers have begun, and what waited for a polling thread when that counted it last, at this method's last call or a little later. Not
     * exact while calls come and go. Waits for nobody.
     */
    int callsUnderWay();
}
