package dev.rackcall.sandbox;

/**
 * Seals that their receivers are done with, but that stay in force until somebody uses their scopes: the next call with an unchanged scope needs no system call
 * then. Guarded by its owner's lock; allocates nothing.
 */
final class KeptSeals {
    private final SealAuthority table;
    private final int bound;
    private final long[] seals;
    private final long[] others;
    /** By the index of a seal's first descriptor: its place among {@link #seals} plus 1, or 0. */
    private final int[] places;

    private final long[] pagesOf;
    private int count;
    private long pages;

    /** @param bound how many seals, and pages of seals, are kept besides the latest */
    KeptSeals(SealAuthority table, int bound) {
        this.table = table;
        this.bound = bound;
        int capacity = table.capacity();
        seals = new long[capacity];
        others = new long[capacity];
        places = new int[capacity];
        pagesOf = new long[capacity];
    }

    /** Keeps a held seal, which is not kept yet; returns whether there are more than the bound now. */
    boolean add(long seal) {
        int index = SealRingLayout.index(seal);
        pagesOf[index] = table.pagesOf(seal);
        pages += pagesOf[index];
        seals[count++] = seal;
        places[index] = count;
        // One scope may be as large as it likes: who passes it again and again gains most.
        return count > 1 && (count > bound || pages > bound);
    }

    boolean contains(long seal) {
        int index = SealRingLayout.index(seal);
        return index >= 0 && index < places.length && places[index] != 0 && seals[places[index] - 1] == seal;
    }

    /** Forgets a seal, if it is kept. */
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

    /** Moves what is kept besides one seal to {@link #taken}; returns how many that are. */
    int take(long besides) {
        int taken = 0;
        for (int i = 0; i < count; i++) {
            if (seals[i] != besides) {
                others[taken++] = seals[i];
            }
        }
        for (int i = 0; i < taken; i++) {
            remove(others[i]);
        }
        return taken;
    }

    /** What the last {@link #take} found. */
    long[] taken() {
        return others;
    }
}
