package dev.rackcall.verbs.soft;

import java.security.SecureRandom;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReferenceArray;

/**
 * Numbers for things: 16 bits of index and some random bits above, so that a number of something that is gone, or a guess, is found out.
 * Looking up neither locks nor allocates.
 */
final class KeyTable<T> {
    private static final int INDEX_BITS = 16;
    private static final int INDEX_MASK = (1 << INDEX_BITS) - 1;

    private record Entry<T>(int key, T value) {}

    private final AtomicReferenceArray<Entry<T>> entries;
    private final ArrayDeque<Integer> free = new ArrayDeque<>();
    private final SecureRandom random = new SecureRandom();
    private final int generationMask;
    private int used = 1;

    /** @param keyBits bits of a number, 17 to 32 */
    KeyTable(int capacity, int keyBits) {
        entries = new AtomicReferenceArray<>(Math.min(capacity, 1 << INDEX_BITS));
        generationMask = (int) ((1L << (keyBits - INDEX_BITS)) - 1);
    }

    /** A number that nobody has; 0 if the table is full. {@link #put} must follow. */
    synchronized int reserve() {
        int index;
        // Numbers are used again as late as possible.
        if (used < entries.length()) {
            index = used++;
        } else if (!free.isEmpty()) {
            index = free.removeFirst();
        } else {
            return 0;
        }
        return (random.nextInt() & generationMask) << INDEX_BITS | index;
    }

    void put(int key, T value) {
        entries.setRelease(key & INDEX_MASK, new Entry<>(key, value));
    }

    /** What has this number, or null. */
    T get(int key) {
        int index = key & INDEX_MASK;
        // Pairs with the release in put.
        Entry<T> entry = index < entries.length() ? entries.getAcquire(index) : null;
        return entry == null || entry.key != key ? null : entry.value;
    }

    synchronized void remove(int key) {
        entries.setRelease(key & INDEX_MASK, null);
        free.addLast(key & INDEX_MASK);
    }

    /** All that are there now. */
    synchronized List<T> all() {
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
