package dev.rackcall.samples.documents;

import java.util.Arrays;

/** The documents that a search has found, as indexes into the store. Not thread-safe. */
final class Matches {
    private int[] documents = new int[64];
    private int size;

    void add(int document) {
        if (size == documents.length) {
            documents = Arrays.copyOf(documents, 2 * size);
        }
        documents[size++] = document;
    }

    /** Drops duplicates, which several elements of one array cause; returns the number of documents. */
    int distinct() {
        Arrays.sort(documents, 0, size);
        int kept = 0;
        for (int i = 0; i < size; i++) {
            if (i == 0 || documents[i] != documents[i - 1]) {
                documents[kept++] = documents[i];
            }
        }
        size = kept;
        return size;
    }

    /** Up to {@code limit} documents with the lowest numbers, in ascending order; {@code numbers} has those of all documents. */
    int[] lowest(long[] numbers, int limit) {
        int[] lowest = new int[Math.min(limit, size)];
        for (int i = 0; i < size; i++) {
            int at = Math.min(i, lowest.length);
            for (; at > 0 && numbers[lowest[at - 1]] > numbers[documents[i]]; at--) {
                if (at < lowest.length) {
                    lowest[at] = lowest[at - 1];
                }
            }
            if (at < lowest.length) {
                lowest[at] = documents[i];
            }
        }
        return lowest;
    }
}
