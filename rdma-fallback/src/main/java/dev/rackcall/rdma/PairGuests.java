package dev.rackcall.rdma;

import dev.rackcall.rdma.end.ForeignPeerException;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;

/**
 * A listener's clients that are not connected yet. An honest client is one for a few milliseconds. Each stage of the
 * handshake has its own places, so clients that stop at a later stage take none from newcomers. If a stage is full, a
 * client that reaches it evicts the oldest client of the address that holds the most places. In the last stage, where
 * the server reserves memory, an address loses places only to an address that holds fewer. Thread-safe.
 */
final class PairGuests {
    /** Clients in one stage. */
    static final int MOST_PER_STAGE = 32;
    /** Evicted clients count until their threads have ended. */
    private static final int MAX_THREADS = 4 * MOST_PER_STAGE;

    /** How far a client has come. */
    enum Stage {
        SILENT,
        GREETED,
        PROVEN
    }

    /**
     * @param address of the client; of an IPv6 address only the network part (64 bits), because one host may use all
     *     addresses in it
     */
    private record Guest(Stage stage, Object address) {}

    /** In each stage, in order of arrival. Guarded by the monitor. */
    private final Map<Socket, Guest> guests = new LinkedHashMap<>();

    private int threads;

    /** Takes a place for a client; false if there is none. A client that was admitted {@link #leaves}. */
    synchronized boolean admit(Socket socket) {
        if (threads == MAX_THREADS) {
            return false;
        }
        enter(socket, new Guest(Stage.SILENT, address(socket.getInetAddress())));
        threads++;
        return true;
    }

    /** @throws ForeignPeerException if the client has lost its place, or there is none for it in that stage */
    synchronized void reaches(Socket socket, Stage stage) throws ForeignPeerException {
        Guest guest = guests.remove(socket);
        if (guest == null || !enter(socket, new Guest(stage, guest.address()))) {
            throw new ForeignPeerException("more than " + MOST_PER_STAGE
                    + " clients are connecting at once, and its place was given to another");
        }
    }

    private boolean enter(Socket socket, Guest guest) {
        if (countOf(guest.stage()) == MOST_PER_STAGE) {
            Optional<Socket> loser = loser(guest);
            if (loser.isEmpty()) {
                return false;
            }
            guests.remove(loser.get());
            // Ends the wait of its thread.
            PairHandshake.giveUp(null, loser.get());
        }
        guests.put(socket, guest);
        return true;
    }

    private long countOf(Stage stage) {
        return guests.values().stream().filter(guest -> guest.stage() == stage).count();
    }

    /** The client to evict for this one. */
    private Optional<Socket> loser(Guest newcomer) {
        Map<Object, Integer> counts = new HashMap<>();
        guests.values().stream()
                .filter(guest -> guest.stage() == newcomer.stage())
                .forEach(guest -> counts.merge(guest.address(), 1, Integer::sum));
        int most = counts.values().stream().mapToInt(count -> count).max().orElseThrow();
        if (newcomer.stage() == Stage.PROVEN && counts.getOrDefault(newcomer.address(), 0) + 1 >= most) {
            return Optional.empty();
        }
        return guests.entrySet().stream()
                .filter(entry -> entry.getValue().stage() == newcomer.stage())
                .filter(entry -> counts.get(entry.getValue().address()) == most)
                .map(Map.Entry::getKey)
                .findFirst();
    }

    private static Object address(InetAddress address) {
        return address instanceof Inet6Address ? ByteBuffer.wrap(address.getAddress(), 0, 8) : address;
    }

    /** The client is connected or was rejected, and its thread ends. */
    synchronized void leaves(Socket socket) {
        guests.remove(socket);
        threads--;
    }

    /** Threads of clients that were admitted, also of those that have lost their places. */
    synchronized int threads() {
        return threads;
    }
}
