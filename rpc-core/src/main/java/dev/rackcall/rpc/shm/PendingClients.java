package dev.rackcall.rpc.shm;

import dev.rackcall.shm.os.socket.EventPoll;
import dev.rackcall.shm.os.socket.PeerCredentials;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.util.LinkedHashMap;
import java.util.Optional;

/**
 * Accepted sockets that have not said hello yet. Honest clients do so at once, so they are few and stay briefly.
 * Confined to the accepting thread.
 */
final class PendingClients {
    /** Beyond this number, the longest silent client is dropped for a new one. */
    static final int MOST = 256;

    private final long patienceNanos;
    private final EventPoll events;
    /** Oldest first. */
    private final LinkedHashMap<Long, Guest> waiting = new LinkedHashMap<>();

    /** A client that connected at {@code since}, on the clock of {@link System#nanoTime}. */
    record Guest(UnixSocket socket, PeerCredentials credentials, ChannelSocket door, long since) {}

    /** @param patienceNanos how long a client may be silent */
    PendingClients(EventPoll events, long patienceNanos) {
        this.events = events;
        this.patienceNanos = patienceNanos;
    }

    /** Waits for the client's hello under that tag; closes its socket if that is not possible. */
    void add(Guest guest, long tag) {
        try {
            if (waiting.size() >= MOST) {
                drop(waiting.pollFirstEntry().getValue());
            }
            guest.socket().watch(events, tag);
        } catch (RuntimeException | Error e) {
            guest.socket().close();
            throw e;
        }
        waiting.put(tag, guest);
    }

    /** Removes and returns the client with that tag, which has sent something; empty if there is none. */
    Optional<Guest> take(long tag) {
        Guest guest = waiting.remove(tag);
        if (guest != null) {
            guest.socket().unwatch(events);
        }
        return Optional.ofNullable(guest);
    }

    /** Drops the clients that have been silent for too long. */
    void dropSilent(long now) {
        waiting.values().removeIf(guest -> {
            boolean tooLong = now - guest.since() >= patienceNanos;
            if (tooLong) {
                drop(guest);
            }
            return tooLong;
        });
    }

    private void drop(Guest guest) {
        try {
            guest.socket().unwatch(events);
        } finally {
            guest.socket().close();
        }
    }

    int size() {
        return waiting.size();
    }

    /** Closes all sockets. */
    void close() {
        waiting.values().forEach(guest -> guest.socket().close());
    }
}
