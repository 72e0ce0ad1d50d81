package dev.rackcall.shm.types;

import dev.rackcall.shm.Ref;
import java.security.SecureRandom;

/** A map from Ref to Ref on the Java heap: open addressing, no removal, null Refs mark free slots. */
final class RefMap {
    private static final int FIRST_CAPACITY = 64;

    /**
     * The seeds of maps in shared memory are visible to peers, and the next seeds follow from them. This one is not.
     */
    private static final long SECRET = new SecureRandom().nextLong();

    /** Refs come from a peer, which must not be able to make them collide. */
    private final long seed = KeyHash.newSeed() ^ SECRET;

    private long[] keys = new long[FIRST_CAPACITY];
    private long[] values = new long[FIRST_CAPACITY];
    private int size;

    /** {@link Ref#NULL} if the key is absent. */
    long get(long key) {
        return values[slot(keys, key)];
    }

    /** Adds an absent key. Neither key nor value is null. */
    void put(long key, long value) {
        if (2 * (size + 1) > keys.length) {
            grow();
        }
        int slot = slot(keys, key);
        keys[slot] = key;
        values[slot] = value;
        size++;
    }

    int size() {
        return size;
    }

    private void grow() {
        long[] moreKeys = new long[keys.length * 2];
        long[] moreValues = new long[keys.length * 2];
        for (int i = 0; i < keys.length; i++) {
            if (keys[i] != Ref.NULL) {
                int slot = slot(moreKeys, keys[i]);
                moreKeys[slot] = keys[i];
                moreValues[slot] = values[i];
            }
        }
        keys = moreKeys;
        values = moreValues;
    }

    private int slot(long[] table, long key) {
        int mask = table.length - 1;
        int slot = (int) KeyHash.mix(key ^ seed) & mask;
        while (table[slot] != Ref.NULL && table[slot] != key) {
            slot = (slot + 1) & mask;
        }
        return slot;
    }
}
