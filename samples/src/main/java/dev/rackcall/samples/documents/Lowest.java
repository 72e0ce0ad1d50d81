package dev.rackcall.samples.documents;

/** Keeps the offered documents with the lowest numbers, in ascending order. Not thread-safe. */
final class Lowest {
    private final long[] numbers;
    private final int[] kept;
    private int size;

    /**
     * @param numbers of all documents; a document is an index into it
     * @param limit how many to keep
     */
    Lowest(long[] numbers, int limit) {
        this.numbers = numbers;
        this.kept = new int[limit];
    }

    void offer(int document) {
        if (size == kept.length && (size == 0 || numbers[document] >= numbers[kept[size - 1]])) {
            return;
        }
        int at = size == kept.length ? size - 1 : size++;
        while (at > 0 && numbers[kept[at - 1]] > numbers[document]) {
            kept[at] = kept[at - 1];
            at--;
        }
        kept[at] = document;
    }

    int size() {
        return size;
    }

    int document(int index) {
        return kept[index];
    }
}
