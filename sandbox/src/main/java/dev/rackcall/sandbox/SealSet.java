package dev.rackcall.sandbox;

import java.util.Arrays;

/** Seals that are held and wait for their release. Guarded by its owner's lock; allocates nothing once warm. */
final class SealSet {
    private final SealAuthority authority;
    private long[] seals = new long[16];
    private long[] taken = new long[16];
    /** By the index of a seal's first descriptor: its position in {@link #seals} plus 1, or 0 if it is absent. */
    private final int[] places;

    private final long[] pagesOf;
    private int count;
    private long pages;

    SealSet(SealAuthority authority) {
        this.authority = authority;
        places = new int[authority.capacity()];
        pagesOf = new long[authority.capacity()];
    }

    /** Adds a held seal unless it is present. */
    void add(long seal) {
        if (contains(seal)) {
            return;
        }
        if (count == seals.length) {
            seals = Arrays.copyOf(seals, 2 * count);
            taken = Arrays.copyOf(taken, 2 * count);
        }
        int index = SealRingLayout.index(seal);
        pagesOf[index] = authority.pagesOf(seal);
        pages += pagesOf[index];
        seals[count++] = seal;
        places[index] = count;
    }

    boolean contains(long seal) {
        int index = SealRingLayout.index(seal);
        return index >= 0 && index < places.length && places[index] != 0 && seals[places[index] - 1] == seal;
    }

    /** Removes a seal if it is present. */
    void remove(long seal) {
        if (!contains(seal)) {
            return;
        }
        int index = SealRingLayout.index(seal);
        int place = places[index] - 1;
        long last = seals[--count];
        seals[place] = last;
        places[SealRingLayout.index(last)] = place + 1;
        places[index] = 0;
        pages -= pagesOf[index];
    }

    int size() {
        return count;
    }

    /** Whether this set has more than {@code bound} seals, or more than {@code bound} pages. */
    boolean exceeds(int bound) {
        return count > bound || pages > bound;
    }

    /** Moves the seals whose receiver is done to {@link #taken}; returns their number. */
    int takeDone() {
        int found = 0;
        for (int i = 0; i < count; i++) {
            if (authority.isDone(seals[i])) {
                taken[found++] = seals[i];
            }
        }
        return take(found);
    }

    /** Moves all seals but one to {@link #taken}; returns their number. */
    int takeAllBut(long excepted) {
        int found = 0;
        for (int i = 0; i < count; i++) {
            if (seals[i] != excepted) {
                taken[found++] = seals[i];
            }
        }
        return take(found);
    }

    private int take(int found) {
        for (int i = 0; i < found; i++) {
            remove(taken[i]);
        }
        return found;
    }

    /** The seals that were taken last. */
    long[] taken() {
        return taken;
    }
}
