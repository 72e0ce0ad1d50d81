package dev.rackcall.rpc.shm.server;

import dev.rackcall.shm.os.Processor;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * The connections that a poller polls turn by turn, and whose clients need not ring. While the poller sleeps it watches
 * none, but the list stays: a busy client should not have to ring just because another one woke the poller. Polling
 * thread only.
 */
final class WatchList {
    /** Consecutive sleeps of the poller without a request, after which a connection leaves the list. */
    private static final int MOST_RESTS = 3;

    private ShmServerConnection[] watched = new ShmServerConnection[16];
    private int size;
    private int processor = Processor.UNKNOWN;
    private boolean yields = true;

    /** Also for other threads, which may get an old number and only decide by it where connections should move. */
    int size() {
        return size;
    }

    ShmServerConnection get(int position) {
        return watched[position];
    }

    void add(ShmServerConnection connection) {
        connection.runsOn(processor, yields);
        connection.watch();
        if (connection.position >= 0) {
            return;
        }
        if (size == watched.length) {
            watched = Arrays.copyOf(watched, 2 * size);
        }
        connection.position = size;
        watched[size++] = connection;
    }

    /** Tells the clients which processor the poller runs on, and whether its yields are short there. */
    void runsOn(int number, boolean yieldsPay) {
        if (number != processor || yieldsPay != yields) {
            processor = number;
            yields = yieldsPay;
            for (int i = 0; i < size; i++) {
                watched[i].runsOn(number, yieldsPay);
            }
        }
    }

    /** Whether a caller waits on the poller's processor. */
    boolean hasCallerHere() {
        for (int i = 0; i < size; i++) {
            if (watched[i].hasCallerOn(processor)) {
                return true;
            }
        }
        return false;
    }

    /**
     * Stops watching a connection, whose client then has to ring. A client that has just sent a request may not have
     * noticed, and stays watched.
     */
    private void letRing(ShmServerConnection connection) {
        connection.unwatch();
        // Orders clearing `watched` before the last check. A client fences between its request and its check of
        // `watched`.
        VarHandle.fullFence();
        if (connection.hasRequest()) {
            connection.watch();
        } else {
            remove(connection);
        }
    }

    /** Stops watching the connections that had no request since the last call, unless there is only one. */
    void letUnusedRing() {
        // Backwards: the last connection takes the place of one that leaves.
        for (int i = size - 1; i >= 0 && size > 1; i--) {
            if (!watched[i].wasUsed()) {
                letRing(watched[i]);
            }
        }
    }

    /** Stops watching all connections; returns false, and keeps watching, if any client has just sent a request. */
    boolean letAllRing() {
        for (int i = 0; i < size; i++) {
            watched[i].unwatch();
        }
        // As in letRing(), for all at once.
        VarHandle.fullFence();
        if (hasRequest()) {
            watchAll();
            return false;
        }
        return true;
    }

    /** Whether any client has sent a request that was not taken. */
    boolean hasRequest() {
        for (int i = 0; i < size; i++) {
            if (watched[i].hasRequest()) {
                return true;
            }
        }
        return false;
    }

    /** Watches again the connections that had requests recently. */
    void watchAgain() {
        for (int i = size - 1; i >= 0; i--) {
            if (watched[i].rests() > MOST_RESTS) {
                remove(watched[i]);
            }
        }
        watchAll();
    }

    private void watchAll() {
        for (int i = 0; i < size; i++) {
            watched[i].watch();
        }
    }

    /** Stops watching a connection for good. */
    void remove(ShmServerConnection connection) {
        int position = connection.position;
        if (position < 0) {
            return;
        }
        ShmServerConnection last = watched[--size];
        watched[position] = last;
        last.position = position;
        watched[size] = null;
        connection.position = -1;
    }
}
