package dev.rackcall.samples.documents;

import dev.rackcall.shm.types.SharedInlineArray;
import java.util.ArrayList;
import java.util.List;

/**
 * The index entries of the documents of one batch, collected before any is added, so that a damaged document leaves no
 * trace. Not thread-safe.
 */
final class Postings {
    private final PathTable paths;
    private final Cursors cursors = new Cursors();
    private final List<Posting> postings = new ArrayList<>();

    Postings(PathTable paths) {
        this.paths = paths;
    }

    /**
     * One value of a document.
     *
     * @param document its place in the batch
     * @param path of the value, see {@link PathTable}
     * @param key the hash of a text, or {@link #numberKey} of a number
     * @param text the Ref of the text; 0 for a number
     */
    record Posting(int document, int path, long key, long text) {}

    /** Maps a double to a long so that the order is kept; -0.0 and 0.0 are equal. */
    static long numberKey(double value) {
        long bits = Double.doubleToLongBits(value + 0.0);
        return bits ^ ((bits >> (Long.SIZE - 1)) & Long.MAX_VALUE);
    }

    void begin() {
        paths.beginBatch();
        postings.clear();
    }

    List<Posting> all() {
        return postings;
    }

    /** Walks one document, whose place in the batch is {@code place}. */
    void collect(int place, Document document) {
        collect(place, cursors.root(document), PathTable.ROOT, 0);
    }

    private void collect(int place, JsonValue value, int path, int depth) {
        switch (value.kind()) {
            case OBJECT -> {
                SharedInlineArray<JsonValue> members = cursors.children(value, depth);
                for (int i = 0; i < members.length(); i++) {
                    JsonValue member = cursors.child(members, i, depth);
                    collect(place, member, paths.child(path, member, cursors), depth + 1);
                }
            }
            case ARRAY -> {
                SharedInlineArray<JsonValue> elements = cursors.children(value, depth);
                for (int i = 0; i < elements.length(); i++) {
                    collect(place, cursors.child(elements, i, depth), path, depth + 1);
                }
            }
            case TEXT -> {
                long key = Digest.of(cursors.text(value).toUtf8());
                postings.add(new Posting(place, path, key, value.text().bits()));
            }
            case INTEGER -> number(place, path, (double) value.bits());
            case DOUBLE -> number(place, path, Double.longBitsToDouble(value.bits()));
            case DECIMAL -> number(place, path, cursors.decimal(value));
            case BOOLEAN, NULL -> {}
        }
    }

    private void number(int place, int path, double value) {
        postings.add(new Posting(place, path, numberKey(value), 0));
    }
}
