package dev.rackcall.samples.documents;

import dev.rackcall.shm.types.SharedArray;
import java.util.Arrays;

/**
 * The index entries of the documents of one batch, collected before any is added, so that a damaged document leaves no
 * trace. Not thread-safe.
 */
final class Postings {
    private static final int FIRST_CAPACITY = 1024;

    private final PathTable paths;
    private final Cursors cursors = new Cursors();

    /** Where each document's values end. */
    private int[] ends = new int[FIRST_CAPACITY];

    private int documents;

    /** Path, hash and Ref of a text; or path, sortable key and 0 of a number. */
    private int[] path = new int[FIRST_CAPACITY];

    private long[] key = new long[FIRST_CAPACITY];
    private long[] text = new long[FIRST_CAPACITY];
    private int values;

    Postings(PathTable paths) {
        this.paths = paths;
    }

    void begin() {
        paths.beginBatch();
        documents = 0;
        values = 0;
    }

    /** Walks one document. */
    void collect(Document document) {
        collect(cursors.root(document), PathTable.ROOT, 0);
        if (documents == ends.length) {
            ends = Arrays.copyOf(ends, 2 * documents);
        }
        ends[documents++] = values;
    }

    private void collect(JsonValue value, int valuePath, int depth) {
        switch (value.kind()) {
            case OBJECT -> {
                SharedArray<JsonValue> members = cursors.children(value, depth);
                for (int i = 0; i < members.length(); i++) {
                    JsonValue member = cursors.child(members, i, depth);
                    collect(member, paths.child(valuePath, member, cursors), depth + 1);
                }
            }
            case ARRAY -> {
                SharedArray<JsonValue> elements = cursors.children(value, depth);
                for (int i = 0; i < elements.length(); i++) {
                    collect(cursors.child(elements, i, depth), valuePath, depth + 1);
                }
            }
            case TEXT ->
                add(
                        valuePath,
                        TextIndex.hash(valuePath, cursors.text(value).toUtf8()),
                        value.text().bits());
            case INTEGER -> add(valuePath, JsonNumbers.sortable((double) value.bits()), 0);
            case DOUBLE -> add(valuePath, JsonNumbers.sortable(Double.longBitsToDouble(value.bits())), 0);
            case DECIMAL -> add(valuePath, JsonNumbers.sortable(cursors.decimal(value)), 0);
            case BOOLEAN, NULL -> {}
        }
    }

    private void add(int valuePath, long valueKey, long textRef) {
        if (values == path.length) {
            path = Arrays.copyOf(path, 2 * values);
            key = Arrays.copyOf(key, 2 * values);
            text = Arrays.copyOf(text, 2 * values);
        }
        path[values] = valuePath;
        key[values] = valueKey;
        text[values++] = textRef;
    }

    int documents() {
        return documents;
    }

    /** Where a document's values begin. */
    int from(int document) {
        return document == 0 ? 0 : ends[document - 1];
    }

    /** Where a document's values end. */
    int to(int document) {
        return ends[document];
    }

    int path(int value) {
        return path[value];
    }

    /** The hash of a text, or a number as {@link JsonNumbers#sortable} has it. */
    long key(int value) {
        return key[value];
    }

    boolean isText(int value) {
        return text[value] != 0;
    }

    long textRef(int value) {
        return text[value];
    }
}
