package dev.rackcall.samples.documents;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.LongPredicate;

/**
 * Documents sorted by a key. New entries are in a small unsorted buffer, all others in sorted runs. Each run is at
 * least twice as long as the next; runs are merged as they grow (a log-structured merge, O'Neil et al. 1996). Not
 * thread-safe; searches change nothing.
 */
final class SortedIndex {
    private static final int BUFFER = 256;

    private final List<Run> runs = new ArrayList<>();
    private final Run buffer = new Run(BUFFER);
    private int buffered;

    /** @param text the Ref of the text whose hash is the key; 0 if the key is a number */
    void add(long key, int document, long text) {
        buffer.set(buffered++, key, document, text);
        if (buffered == BUFFER) {
            flush();
        }
    }

    private void flush() {
        Run run = buffer.sorted();
        buffered = 0;
        while (!runs.isEmpty() && runs.getLast().keys.length < 2 * run.keys.length) {
            run = Run.merge(runs.removeLast(), run);
        }
        runs.add(run);
    }

    /** Collects the documents of all entries with a key from {@code low} to {@code high}, both included, whose text is wanted. */
    Matches find(long low, long high, LongPredicate wanted) {
        Matches matches = new Matches();
        for (int i = 0; i < buffered; i++) {
            if (buffer.keys[i] >= low && buffer.keys[i] <= high) {
                buffer.offer(i, wanted, matches);
            }
        }
        for (Run run : runs) {
            for (int i = run.firstFrom(low); i < run.keys.length && run.keys[i] <= high; i++) {
                run.offer(i, wanted, matches);
            }
        }
        return matches;
    }

    /** Keys, their documents and their texts, side by side. */
    private static final class Run {
        private final long[] keys;
        private final int[] documents;
        private final long[] texts;

        Run(int length) {
            keys = new long[length];
            documents = new int[length];
            texts = new long[length];
        }

        void set(int at, long key, int document, long text) {
            keys[at] = key;
            documents[at] = document;
            texts[at] = text;
        }

        private void copy(int at, Run source, int from) {
            set(at, source.keys[from], source.documents[from], source.texts[from]);
        }

        void offer(int at, LongPredicate wanted, Matches matches) {
            if (wanted.test(texts[at])) {
                matches.add(documents[at]);
            }
        }

        /** A sorted copy of a short run, by insertion. */
        Run sorted() {
            Run run = new Run(keys.length);
            for (int i = 0; i < keys.length; i++) {
                int at = i;
                for (; at > 0 && run.keys[at - 1] > keys[i]; at--) {
                    run.copy(at, run, at - 1);
                }
                run.copy(at, this, i);
            }
            return run;
        }

        static Run merge(Run left, Run right) {
            Run merged = new Run(left.keys.length + right.keys.length);
            int l = 0;
            int r = 0;
            for (int i = 0; i < merged.keys.length; i++) {
                boolean fromLeft = r == right.keys.length || (l < left.keys.length && left.keys[l] <= right.keys[r]);
                merged.copy(i, fromLeft ? left : right, fromLeft ? l++ : r++);
            }
            return merged;
        }

        int firstFrom(long key) {
            int at = Arrays.binarySearch(keys, key);
            if (at < 0) {
                return -at - 1;
            }
            while (at > 0 && keys[at - 1] == key) {
                at--;
            }
            return at;
        }
    }
}
