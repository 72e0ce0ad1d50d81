package dev.rackcall.samples.documents;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The documents with each number at one path, in order: new ones in a small unsorted buffer, others in sorted runs.
 * Each run is at least twice as long as the next; runs are merged as they grow (a log-structured merge, O'Neil et al.
 * 1996). Not thread-safe; searches change nothing.
 */
final class NumberIndex {
    private static final int BUFFER = 256;

    private final List<Run> runs = new ArrayList<>();
    private final Run buffer = new Run(new long[BUFFER], new int[BUFFER], 0);

    /** Whether some document is here more than once, by the elements of an array. */
    private boolean repeated;

    private int last = -1;

    /** Adds a number as {@link JsonNumbers#sortable} has it. */
    void add(long key, int document) {
        repeated |= document == last;
        last = document;
        buffer.keys[buffer.length] = key;
        buffer.documents[buffer.length++] = document;
        if (buffer.length == BUFFER) {
            flush();
        }
    }

    private void flush() {
        Run run = buffer.sorted();
        buffer.length = 0;
        while (!runs.isEmpty() && runs.getLast().length < 2 * run.length) {
            run = Run.merge(runs.removeLast(), run);
        }
        runs.add(run);
    }

    /** Offers all documents with a number from {@code low} to {@code high}, both included; returns their number. */
    long collect(long low, long high, Lowest lowest) {
        if (repeated) {
            return collectDistinct(low, high, lowest);
        }
        long count = 0;
        for (int i = 0; i < buffer.length; i++) {
            if (buffer.keys[i] >= low && buffer.keys[i] <= high) {
                lowest.offer(buffer.documents[i]);
                count++;
            }
        }
        for (Run run : runs) {
            int from = run.firstFrom(low);
            int to = run.firstBeyond(high);
            for (int i = from; i < to; i++) {
                lowest.offer(run.documents[i]);
            }
            count += Math.max(0, to - from);
        }
        return count;
    }

    private long collectDistinct(long low, long high, Lowest lowest) {
        int[] found = new int[BUFFER];
        int count = 0;
        List<Run> all = new ArrayList<>(runs);
        all.add(buffer.sorted());
        for (Run run : all) {
            int from = run.firstFrom(low);
            int more = Math.max(0, run.firstBeyond(high) - from);
            if (found.length < count + more) {
                found = Arrays.copyOf(found, Math.max(count + more, 2 * found.length));
            }
            System.arraycopy(run.documents, from, found, count, more);
            count += more;
        }
        Arrays.sort(found, 0, count);
        long distinct = 0;
        for (int i = 0; i < count; i++) {
            if (i == 0 || found[i] != found[i - 1]) {
                lowest.offer(found[i]);
                distinct++;
            }
        }
        return distinct;
    }

    /** JsonNumbers and their documents, side by side. */
    private static final class Run {
        private final long[] keys;
        private final int[] documents;
        private int length;

        Run(long[] keys, int[] documents, int length) {
            this.keys = keys;
            this.documents = documents;
            this.length = length;
        }

        /** A sorted copy of a short run, by insertion. */
        Run sorted() {
            Run run = new Run(Arrays.copyOf(keys, length), Arrays.copyOf(documents, length), length);
            for (int i = 1; i < length; i++) {
                long key = keys[i];
                int at = i;
                while (at > 0 && run.keys[at - 1] > key) {
                    run.keys[at] = run.keys[at - 1];
                    run.documents[at] = run.documents[at - 1];
                    at--;
                }
                run.keys[at] = key;
                run.documents[at] = documents[i];
            }
            return run;
        }

        static Run merge(Run left, Run right) {
            int length = left.length + right.length;
            Run merged = new Run(new long[length], new int[length], length);
            int l = 0;
            int r = 0;
            for (int i = 0; i < length; i++) {
                boolean fromLeft = r == right.length || (l < left.length && left.keys[l] <= right.keys[r]);
                Run source = fromLeft ? left : right;
                int at = fromLeft ? l++ : r++;
                merged.keys[i] = source.keys[at];
                merged.documents[i] = source.documents[at];
            }
            return merged;
        }

        int firstFrom(long key) {
            int low = 0;
            int high = length;
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (keys[middle] < key) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            return low;
        }

        int firstBeyond(long key) {
            return key == Long.MAX_VALUE ? length : firstFrom(key + 1);
        }
    }
}
