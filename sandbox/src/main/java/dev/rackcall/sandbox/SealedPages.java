package dev.rackcall.sandbox;

/** One bit for each page of an arena: whether it is sealed. The bits are in pieces that are allocated on first use. */
final class SealedPages {
    /** Pages of one piece: 128 MiB of small pages, 4 KiB of bits. */
    private static final int PIECE_SHIFT = 15;

    private static final int PIECE_MASK = (1 << PIECE_SHIFT) - 1;

    private final long[][] pieces;

    SealedPages(long pages) {
        pieces = new long[Math.toIntExact((pages + PIECE_MASK) >>> PIECE_SHIFT)][];
    }

    boolean anyIn(long from, long to) {
        for (long page = from; page < to; page = nextWord(page)) {
            long[] piece = pieces[(int) (page >>> PIECE_SHIFT)];
            if (piece != null && (piece[wordOf(page)] & mask(page, to)) != 0) {
                return true;
            }
        }
        return false;
    }

    void set(long from, long to) {
        for (long page = from; page < to; page = nextWord(page)) {
            int number = (int) (page >>> PIECE_SHIFT);
            if (pieces[number] == null) {
                pieces[number] = new long[1 << (PIECE_SHIFT - 6)];
            }
            pieces[number][wordOf(page)] |= mask(page, to);
        }
    }

    void clear(long from, long to) {
        for (long page = from; page < to; page = nextWord(page)) {
            long[] piece = pieces[(int) (page >>> PIECE_SHIFT)];
            if (piece != null) {
                piece[wordOf(page)] &= ~mask(page, to);
            }
        }
    }

    private static int wordOf(long page) {
        return (int) (page & PIECE_MASK) >>> 6;
    }

    private static long nextWord(long page) {
        return (page | 63) + 1;
    }

    /** The bits of {@code page} and the following pages in its word, before {@code to}. */
    private static long mask(long page, long to) {
        long bits = -1L << page;
        long last = (page | 63) + 1;
        return to >= last ? bits : bits & ~(-1L << to);
    }
}
