package dev.rackcall.shm.types;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.Scope;
import java.lang.foreign.MemorySegment;
import java.security.SecureRandom;
import java.util.Arrays;

/**
 * One execution of a {@code DeepCopy}. An object is copied whole at the first reference to it. The copy is pushed onto
 * a stack, because its own references still point to originals. References are read from the copies, so a peer that
 * changes the originals meanwhile cannot change what was checked.
 */
final class GraphCopy {
    private static final int FIRST_CAPACITY = 64;

    private final RefSpace source;
    private final Scope target;
    private final long maxObjects;
    private final long maxBytes;
    private final RefMap copies = new RefMap();
    private long copiedBytes;

    private long[] openRefs = new long[FIRST_CAPACITY];
    private int[] openBytes = new int[FIRST_CAPACITY];
    private SharedType<?>[] openTypes = new SharedType<?>[FIRST_CAPACITY];
    private int open;

    GraphCopy(RefSpace source, Scope target, long maxObjects, long maxBytes) {
        this.source = source;
        this.target = target;
        this.maxObjects = maxObjects;
        this.maxBytes = maxBytes;
    }

    /** Copies everything reachable from an object; returns the Ref of its copy. */
    long run(SharedType<?> rootType, long root) {
        long copy = copyOf(rootType, root);
        while (open > 0) {
            open--;
            openTypes[open].forward(this, target.arena().memory(), Ref.offset(openRefs[open]), openBytes[open]);
        }
        return copy;
    }

    /** Replaces a reference in a copy by a reference to the copy of its target. */
    void forward(MemorySegment memory, long at, SharedType<?> type) {
        long original = memory.get(ObjectLayout.LONG, at);
        if (original != Ref.NULL) {
            memory.set(ObjectLayout.LONG, at, copyOf(type, original));
        }
    }

    private long copyOf(SharedType<?> type, long original) {
        long known = copies.get(original);
        if (known != Ref.NULL) {
            MemorySegment to = target.arena().memory();
            type.checkedBytes(to, Ref.offset(known), to.byteSize(), original);
            return known;
        }
        RefSpace.Window window = source.follow(original);
        long at = window.at(original);
        int bytes = type.knownBytes(type.checkedBytes(window, at, original));
        count(type, original, bytes);
        long copy = target.allocate(bytes);
        MemorySegment to = target.arena().memory();
        long base = Ref.offset(copy);
        MemorySegment.copy(window.memory(), at, to, base, bytes);
        to.set(ObjectLayout.LONG, base, ObjectLayout.header(type.typeId(), bytes));
        copies.put(original, copy);
        push(type, copy, bytes);
        return copy;
    }

    private void count(SharedType<?> type, long ref, int bytes) {
        copiedBytes += bytes;
        if (copies.size() >= maxObjects || copiedBytes > maxBytes) {
            throw new SharedDataException("the graph is larger than " + maxObjects + " objects or "
                    + maxBytes + " bytes, found at a " + type.name() + " at " + Ref.describe(ref)
                    + "; if that is expected, copy with a larger DeepCopy.limitedTo");
        }
    }

    private void push(SharedType<?> type, long copy, int bytes) {
        if (open == openRefs.length) {
            openRefs = Arrays.copyOf(openRefs, open * 2);
            openBytes = Arrays.copyOf(openBytes, open * 2);
            openTypes = Arrays.copyOf(openTypes, open * 2);
        }
        openRefs[open] = copy;
        openBytes[open] = bytes;
        openTypes[open] = type;
        open++;
    }

    /** A map from Ref to Ref on the Java heap: open addressing, no removal, null Refs mark free slots. */
    private static final class RefMap {
        private static final int FIRST_CAPACITY = 64;

        /**
         * Peers can see the seeds of maps in shared memory and derive the next seeds from them. They cannot see this
         * one.
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
}
