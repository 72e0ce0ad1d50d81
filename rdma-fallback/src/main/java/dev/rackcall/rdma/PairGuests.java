package dev.rackcall.rdma;

import dev.rackcall.rdma.end.ForeignPeerException;
import java.net.Socket;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A listener's clients that are not connected yet. An honest client is one for a few milliseconds. If all places are
 * taken, a new client gets that of the client that has come least far, and of those the oldest. Clients that have proven
 * themselves keep their places. Thread-safe.
 */
final class PairGuests {
    /** Clients before or in their handshake. */
    static final int MOST = 64;
    /** Evicted clients count until their threads have ended. */
    private static final int MAX_THREADS = 2 * MOST;

    /** How far a client has come. */
    enum Stage {
        SILENT,
        GREETED,
        PROVEN
    }

    /** Oldest first. Guarded by the monitor. */
    private final Map<Socket, Stage> guests = new LinkedHashMap<>();

    private int threads;

    /** Takes a place for a client; false if there is none. A client that was admitted {@link #leaves}. */
    synchronized boolean admit(Socket socket) {
        if (threads == MAX_THREADS) {
            return false;
        }
        if (guests.size() == MOST) {
            Optional<Socket> least = leastFar();
            if (least.isEmpty()) {
                return false;
            }
            guests.remove(least.get());
            // Ends the wait of its thread.
            PairHandshake.giveUp(null, least.get());
        }
        guests.put(socket, Stage.SILENT);
        threads++;
        return true;
    }

    private Optional<Socket> leastFar() {
        Optional<Socket> least = Optional.empty();
        Stage stage = Stage.PROVEN;
        for (Map.Entry<Socket, Stage> guest : guests.entrySet()) {
            if (guest.getValue().compareTo(stage) < 0) {
                least = Optional.of(guest.getKey());
                stage = guest.getValue();
            }
        }
        return least;
    }

    /** @throws ForeignPeerException if the client has lost its place */
    synchronized void reaches(Socket socket, Stage stage) throws ForeignPeerException {
        if (guests.replace(socket, stage) == null) {
            throw new ForeignPeerException(
                    "its place was given to a newer client, because " + MOST + " are connecting at once");
        }
    }

    /** The client is connected or was turned away, and its thread ends. */
    synchronized void leaves(Socket socket) {
        guests.remove(socket);
        threads--;
    }
}
