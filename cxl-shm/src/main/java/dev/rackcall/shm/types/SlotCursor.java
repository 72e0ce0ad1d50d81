package dev.rackcall.shm.types;

import java.util.ConcurrentModificationException;
import java.util.NoSuchElementException;

/** A walk over the taken slots of a map's table, at most once around. */
final class SlotCursor {
    private final SharedMap<?> map;
    private final long table;
    private int slot = -1;

    SlotCursor(SharedMap<?> map) {
        map.size();
        this.map = map;
        this.table = map.slotsRef();
    }

    boolean next() {
        map.size();
        if (map.slotsRef() != table) {
            throw new ConcurrentModificationException(map + " grew during a walk over it; start the walk again");
        }
        do {
            slot++;
        } while (slot < map.capacity() && map.slots().isFree(slot));
        return slot < map.capacity();
    }

    long key() {
        return map.slots().key(taken());
    }

    long value() {
        return map.slots().value(taken());
    }

    private int taken() {
        if (slot < 0 || slot >= map.capacity()) {
            throw new NoSuchElementException("call next() first; an entry is there while it returns true");
        }
        return slot;
    }
}
