package dev.rackcall.rpc.shm;

import dev.rackcall.shm.os.socket.EventPoll;
import dev.rackcall.shm.os.socket.PeerCredentials;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.util.LinkedHashMap;
import java.util.Optional;

/**
 * Sockets that were accepted and have not said hello, as an honest client does at once: so they are few, and not here for long, whatever others do. For the accepting
 * thread.
 */
final class Guests {
    /** Who comes when there are that many takes the place of the one who has been silent longest. */
    static final int MOST = 256;

    private final long patienceNanos;
    private final EventPoll events;
    /** Oldest first. */
    private final LinkedHashMap<Long, Guest> waiting = new LinkedHashMap<>();

    /** One of them, as of {@code since}, on the clock of {@link System#nanoTime}. */
    record Guest(UnixSocket socket, PeerCredentials credentials, ChannelDoor door, long since) {}

    /** @param patienceNanos how long somebody may be silent */
    Guests(EventPoll events, long patienceNanos) {
        this.events = events;
        this.patienceNanos = patienceNanos;
    }

    /** Waits for his hello under that tag. If that is not possible, his socket is closed. */
    void add(Guest guest, long tag) {
        try {
            if (waiting.size() >= MOST) {
                drop(waiting.pollFirstEntry().getValue());
            }
            events.add(guest.socket().fd(), tag);
        } catch (RuntimeException | Error e) {
            guest.socket().close();
            throw e;
        }
        waiting.put(tag, guest);
    }

    /** The guest with that tag, who has said something and is whoever's who asks now; empty if there is none. */
    Optional<Guest> take(long tag) {
        Guest guest = waiting.remove(tag);
        if (guest != null) {
            events.remove(guest.socket().fd());
        }
        return Optional.ofNullable(guest);
    }

    /** Drops those who have been silent for too long. */
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
            events.remove(guest.socket().fd());
        } finally {
            guest.socket().close();
        }
    }

    int size() {
        return waiting.size();
    }

    /** Closes all sockets; nobody is waited for any more. */
    void close() {
        waiting.values().forEach(guest -> guest.socket().close());
    }
}
