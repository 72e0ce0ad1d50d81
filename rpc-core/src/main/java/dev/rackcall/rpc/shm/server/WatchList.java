package dev.rackcall.rpc.shm.server;

import java.lang.invoke.VarHandle;
import java.util.Arrays;

/** The connections that a poller polls turn by turn, and whose clients need not ring. Polling thread only. */
final class WatchList {
    private ShmServerConnection[] watched = new ShmServerConnection[16];
    private int size;

    int size() {
        return size;
    }

    ShmServerConnection get(int position) {
        return watched[position];
    }

    void add(ShmServerConnection connection) {
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

    /**
     * Stops watching a connection, whose client then has to ring. A client that has just sent a request may not know
     * that, and stays watched.
     */
    void letRing(ShmServerConnection connection) {
        connection.unwatch();
        // Between clearing `watched` and the last look. A client fences between its request and its look at `watched`.
        VarHandle.fullFence();
        if (connection.hasRequest()) {
            connection.watch();
        } else {
            remove(connection);
        }
    }

    /** Stops watching all connections; returns false, and watches on, if any client has just sent a request. */
    boolean letAllRing() {
        for (int i = 0; i < size; i++) {
            watched[i].unwatch();
        }
        // As in letRing(), for all at once.
        VarHandle.fullFence();
        for (int i = 0; i < size; i++) {
            if (watched[i].hasRequest()) {
                for (int j = 0; j < size; j++) {
                    watched[j].watch();
                }
                return false;
            }
        }
        while (size > 0) {
            watched[--size].position = -1;
            watched[size] = null;
        }
        return true;
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
