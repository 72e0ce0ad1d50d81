package dev.rackcall.verbs.soft.memory;

import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Objects by number. A number is a 16-bit index with random bits above it, so numbers of closed objects and guessed
 * numbers are not found. Looking up neither locks nor allocates.
 */
public final class KeyTable<T> {
    private static final int INDEX_BITS = 16;
    private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;

    private record Entry<T>(int key, T value) {}

    private final AtomicReferenceArray<Entry<T>> entries;
    private final ArrayDeque<Integer> free = new ArrayDeque<>();
    private final SecureRandom random = new SecureRandom();
    private final int generationMask;
    private int used = 1;

    /** @param keyBits bits of a number, 17 to 32 */
    public KeyTable(int capacity, int keyBits) {
        entries = new AtomicReferenceArray<>(Math.min(capacity, 1 << INDEX_BITS));
        generationMask = (int) ((1L << (keyBits - INDEX_BITS)) - 1);
    }

    /** Reserves a free number for {@link #put}; 0 if the table is full. */
    public synchronized int reserve() {
        int index;
        // An index is reused as late as possible.
        if (used < entries.length()) {
            index = used++;
        } else if (!free.isEmpty()) {
            index = free.removeFirst();
        } else {
            return 0;
        }
        return (random.nextInt() & generationMask) << INDEX_BITS | index;
    }

    public void put(int key, T value) {
        entries.setRelease(key & INDEX_MASK, new Entry<>(key, value));
    }

    /** Returns the object with this number, or null. */
    public T get(int key) {
        int index = key & INDEX_MASK;
        // Pairs with the release in put.
        Entry<T> entry = index < entries.length() ? entries.getAcquire(index) : null;
        return entry == null || entry.key != key ? null : entry.value;
    }

    public synchronized void remove(int key) {
        entries.setRelease(key & INDEX_MASK, null);
        free.addLast(key & INDEX_MASK);
    }

    /** Returns all current objects. */
    public synchronized List<T> all() {
        List<T> all = new ArrayList<>();
        for (int i = 1; i < used; i++) {
            Entry<T> entry = entries.getAcquire(i);
            if (entry != null) {
                all.add(entry.value);
            }
        }
        return all;
    }
}
