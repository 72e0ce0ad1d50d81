package dev.rackcall.rdma.queue;

import dev.rackcall.cp.HostId;
import dev.rackcall.rdma.end.ForeignPeerException;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * A listener's clients whose handshake is not complete. Further hellos wait at the port. If all places are taken, a
 * guest that has made the server wait for a while loses its own: the oldest such guest of the host with the most of
 * them. Guests that the server is working for keep their places. Thread-safe.
 */
final class QueueGuests {
    static final int MOST = 64;
    /** Evicted guests count until their threads have ended. */
    private static final int MAX_THREADS = 4 * MOST;
    /** An honest client and its agent answer within a few milliseconds, or a few hundred on a busy host. */
    private static final long PATIENCE_NANOS = TimeUnit.SECONDS.toNanos(2);

    /** Oldest first. Guarded by the monitor. */
    private final Set<Guest> guests = new LinkedHashSet<>();

    private int threads;

    /** One client. Used by its thread; {@link #evicted} is written by the listener's. */
    final class Guest {
        private final HostId host;
        /** Since when the server waits for this client ({@link System#nanoTime}). Guarded by the guests' monitor. */
        private Optional<Long> waitsSince = Optional.empty();

        private volatile boolean evicted;

        private Guest(HostId host) {
            this.host = host;
        }

        /** The server waits for this client from now on. */
        void await() {
            synchronized (QueueGuests.this) {
                waitsSince = Optional.of(System.nanoTime());
            }
        }

        /** The server continues with its own work. */
        void goesOn() {
            synchronized (QueueGuests.this) {
                waitsSince = Optional.empty();
            }
        }

        boolean isEvicted() {
            return evicted;
        }

        /** @throws ForeignPeerException if it has lost its place */
        void requirePlace() throws ForeignPeerException {
            if (evicted) {
                throw new ForeignPeerException(
                        "its place was given to another client, because it let the server wait and " + MOST
                                + " clients are connecting at once");
            }
        }

        /** Its thread ends. */
        void leaves() {
            synchronized (QueueGuests.this) {
                guests.remove(this);
                threads--;
            }
        }
    }

    /** Whether that many places are free. To make room, evicts guests that have made the server wait. */
    synchronized boolean hasRoom(int wanted) {
        while (guests.size() + wanted > MOST) {
            Optional<Guest> slow = slowest();
            if (slow.isEmpty()) {
                return false;
            }
            slow.get().evicted = true;
            guests.remove(slow.get());
        }
        return threads + wanted <= MAX_THREADS;
    }

    /** Whether hellos may be waiting for a place. */
    synchronized boolean isFull() {
        return guests.size() + QueueInbox.PIECES > MOST || threads + QueueInbox.PIECES > MAX_THREADS;
    }

    private Optional<Guest> slowest() {
        long now = System.nanoTime();
        Map<HostId, Integer> counts = new HashMap<>();
        guests.stream().filter(guest -> isSlow(guest, now)).forEach(guest -> counts.merge(guest.host, 1, Integer::sum));
        return guests.stream()
                .filter(guest -> isSlow(guest, now))
                .max((one, other) -> Integer.compare(counts.get(one.host), counts.get(other.host)));
    }

    private static boolean isSlow(Guest guest, long now) {
        return guest.waitsSince.filter(since -> now - since > PATIENCE_NANOS).isPresent();
    }

    /** Takes a place after {@link #hasRoom}. */
    synchronized Guest admit(HostId host) {
        Guest guest = new Guest(host);
        guests.add(guest);
        threads++;
        return guest;
    }
}
