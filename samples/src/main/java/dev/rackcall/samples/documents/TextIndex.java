package dev.rackcall.samples.documents;

import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.types.SharedString;
import java.util.Arrays;

/**
 * The documents with each text at each path. The index copies no text: an entry refers to one of its texts in shared
 * memory, and equal texts belong to it. A hash table with linear probing; the documents of an entry are a chain of
 * postings. Not thread-safe; searches change nothing.
 */
final class TextIndex {
    static final int NONE = -1;

    private static final int FIRST_CAPACITY = 1 << 12;

    private final SharedString stored = SharedString.TYPE.flyweight();

    /** The columns of the table: hash, path, a text, number of postings, and the last of them. */
    private long[] hashes = new long[FIRST_CAPACITY];

    private int[] paths = new int[FIRST_CAPACITY];
    private long[] texts = new long[FIRST_CAPACITY];
    private int[] counts = new int[FIRST_CAPACITY];
    private int[] chains = new int[FIRST_CAPACITY];
    private int entries;

    private int[] documents = new int[FIRST_CAPACITY];
    private int[] next = new int[FIRST_CAPACITY];
    private int postings;

    static long hash(int path, byte[] utf8) {
        return Hash.mix(Hash.of(utf8), path);
    }

    /** Adds a document to the entry of its text, unless it was the last that was added there. */
    void add(long hash, int path, RefSpace space, SharedString text, long textRef, int document) {
        int entry = (int) hash & (hashes.length - 1);
        while (counts[entry] != 0 && !isEntry(entry, hash, path, space, text)) {
            entry = (entry + 1) & (hashes.length - 1);
        }
        if (counts[entry] == 0) {
            hashes[entry] = hash;
            paths[entry] = path;
            texts[entry] = textRef;
            chains[entry] = NONE;
            entries++;
        } else if (documents[chains[entry]] == document) {
            return;
        }
        counts[entry]++;
        chains[entry] = addPosting(document, chains[entry]);
        if (entries * 2 > hashes.length) {
            grow();
        }
    }

    private boolean isEntry(int entry, long hash, int path, RefSpace space, SharedString text) {
        if (hashes[entry] != hash || paths[entry] != path) {
            return false;
        }
        SharedString.TYPE.move(stored, space, texts[entry]);
        return stored.contentEquals(text);
    }

    private int addPosting(int document, int chain) {
        if (postings == documents.length) {
            documents = Arrays.copyOf(documents, 2 * postings);
            next = Arrays.copyOf(next, 2 * postings);
        }
        documents[postings] = document;
        next[postings] = chain;
        return postings++;
    }

    private void grow() {
        long[] oldHashes = hashes;
        int[] oldPaths = paths;
        long[] oldTexts = texts;
        int[] oldCounts = counts;
        int[] oldChains = chains;
        int capacity = 2 * oldHashes.length;
        hashes = new long[capacity];
        paths = new int[capacity];
        texts = new long[capacity];
        counts = new int[capacity];
        chains = new int[capacity];
        for (int old = 0; old < oldHashes.length; old++) {
            if (oldCounts[old] != 0) {
                int entry = (int) oldHashes[old] & (capacity - 1);
                while (counts[entry] != 0) {
                    entry = (entry + 1) & (capacity - 1);
                }
                hashes[entry] = oldHashes[old];
                paths[entry] = oldPaths[old];
                texts[entry] = oldTexts[old];
                counts[entry] = oldCounts[old];
                chains[entry] = oldChains[old];
            }
        }
    }

    /** The entry of a text, or {@link #NONE}. Any thread may call it while no thread adds. */
    int find(long hash, int path, RefSpace space, String text) {
        int entry = (int) hash & (hashes.length - 1);
        while (counts[entry] != 0) {
            if (hashes[entry] == hash
                    && paths[entry] == path
                    && SharedString.TYPE.attach(space, texts[entry]).contentEquals(text)) {
                return entry;
            }
            entry = (entry + 1) & (hashes.length - 1);
        }
        return NONE;
    }

    /** Number of documents of an entry. */
    int count(int entry) {
        return counts[entry];
    }

    /** Gives all documents of an entry. */
    void collect(int entry, Lowest lowest) {
        for (int posting = chains[entry]; posting != NONE; posting = next[posting]) {
            lowest.offer(documents[posting]);
        }
    }
}
