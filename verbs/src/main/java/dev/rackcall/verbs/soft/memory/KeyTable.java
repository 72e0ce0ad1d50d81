package dev.rackcall.verbs.soft.memory;

import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Objects by number. A number is a random 16-bit index with random bits above it, so numbers of closed objects and
 * guessed numbers are not found. Looking up neither locks nor allocates.
 */
public final class KeyTable<T> {
    private static final int INDEX_BITS = 16;
    private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;

    /** The value is null once the object is closed. */
    private record Entry<T>(int key, T value) {}

    private final AtomicReferenceArray<Entry<T>> entries;
    /** Indices of reserved numbers. Guarded by the monitor. */
    private final BitSet used = new BitSet();

    private final SecureRandom random = new SecureRandom();
    private final int generationMask;

    /** @param keyBits bits of a number, 17 to 32 */
    public KeyTable(int capacity, int keyBits) {
        entries = new AtomicReferenceArray<>(Math.min(capacity, 1 << INDEX_BITS));
        generationMask = (int) ((1L << (keyBits - INDEX_BITS)) - 1);
        // No object has number 0.
        used.set(0);
    }

    /** Reserves a free number for {@link #put}; 0 if the table is full. */
    public synchronized int reserve() {
        if (used.cardinality() == entries.length()) {
            return 0;
        }
        int index = used.nextClearBit(random.nextInt(entries.length()));
        if (index >= entries.length()) {
            index = used.nextClearBit(0);
        }
        used.set(index);
        return (random.nextInt() & generationMask) << INDEX_BITS | index;
    }

    public void put(int key, T value) {
        entries.setRelease(key & INDEX_MASK, new Entry<>(key, value));
    }

    /** Returns the object with this number, or null. */
    public T get(int key) {
        Entry<T> entry = entry(key);
        return entry == null ? null : entry.value;
    }

    /** Whether an object has, or had until lately, this number. A guessed number hardly ever matches. */
    public boolean hasKnown(int key) {
        return entry(key) != null;
    }

    private Entry<T> entry(int key) {
        int index = key & INDEX_MASK;
        // Pairs with the release in put.
        Entry<T> entry = index < entries.length() ? entries.getAcquire(index) : null;
        return entry == null || entry.key != key ? null : entry;
    }

    public synchronized void remove(int key) {
        entries.setRelease(key & INDEX_MASK, new Entry<>(key, null));
        used.clear(key & INDEX_MASK);
    }

    /** Returns all current objects. */
    public synchronized List<T> all() {
        List<T> all = new ArrayList<>();
        for (int i = used.nextSetBit(1); i >= 0; i = used.nextSetBit(i + 1)) {
            Entry<T> entry = entries.getAcquire(i);
            if (entry != null && entry.value != null) {
                all.add(entry.value);
            }
        }
        return all;
    }
}
