package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.Status;
import java.util.BitSet;

/**
 * The arena numbers in use in this process. Each end of a connection keeps its numbers apart, so numbers need not be
 * unique beyond the process. Thread-safe.
 */
final class ArenaIds {
    private static final int MAX = 0xffff;
    private static final ArenaIds SHARED = new ArenaIds();

    private final BitSet taken = new BitSet();
    private int last;

    private ArenaIds() {}

    static ArenaIds shared() {
        return SHARED;
    }

    /** A free number, preferably not one used lately, so that a stale Ref rarely finds a new arena. */
    synchronized int take() {
        int id = taken.nextClearBit(last + 1);
        if (id > MAX) {
            id = taken.nextClearBit(1);
        }
        if (id > MAX) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with("all %d arena numbers of this process are taken; close connections", MAX)
                    .asException();
        }
        taken.set(id);
        last = id;
        return id;
    }

    synchronized void give(int id) {
        taken.clear(id);
    }
}
