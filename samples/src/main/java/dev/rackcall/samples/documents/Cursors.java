package dev.rackcall.samples.documents;

import dev.rackcall.shm.types.SharedDataException;
import dev.rackcall.shm.types.SharedInlineArray;
import dev.rackcall.shm.types.SharedString;
import java.util.ArrayList;
import java.util.List;

/**
 * Flyweights for walking a document, one pair for each level: a repeated walk allocates nothing. They bound the depth
 * and the number of values, because a peer could build a chain of arrays, each of which contains the next one twice.
 * Used by one thread.
 */
final class Cursors {
    private static final int MAX_VALUES = 1 << 20;

    private final List<JsonValue> values = new ArrayList<>();
    private final List<SharedInlineArray<JsonValue>> children = new ArrayList<>();
    private final SharedString name = SharedString.TYPE.flyweight();
    private final SharedString text = SharedString.TYPE.flyweight();
    private int seen;

    /** Puts the first flyweight onto the content of a document. */
    JsonValue root(Document document) {
        seen = 0;
        return document.content();
    }

    /** A flyweight on the children of a value at that depth. */
    SharedInlineArray<JsonValue> children(JsonValue parent, int depth) {
        if (depth >= JsonText.MAX_DEPTH) {
            throw new SharedDataException(
                    "a document is more than " + JsonText.MAX_DEPTH + " arrays and objects deep; flatten it");
        }
        while (children.size() <= depth) {
            children.add(JsonValue.CHILDREN.flyweight());
            values.add(JsonValue.TYPE.flyweight());
        }
        SharedInlineArray<JsonValue> array = children.get(depth);
        if (!parent.children(array)) {
            throw new SharedDataException(parent + " of kind " + parent.kind() + " has no array of children");
        }
        return array;
    }

    /** A flyweight on one of the children; {@code depth} is that of their parent. */
    JsonValue child(SharedInlineArray<JsonValue> array, int index, int depth) {
        seen++;
        if (seen > MAX_VALUES) {
            throw new SharedDataException("a document has more than " + MAX_VALUES + " values; split it");
        }
        JsonValue child = values.get(depth);
        array.get(index, child);
        return child;
    }

    /** A flyweight on a member's name. */
    SharedString name(JsonValue member) {
        if (!member.name(name)) {
            throw new SharedDataException(member + " is a member of an object but has no name");
        }
        return name;
    }

    /** A flyweight on a value's text. */
    SharedString text(JsonValue value) {
        if (!value.text(text)) {
            throw new SharedDataException(value + " of kind " + value.kind() + " has no text");
        }
        return text;
    }

    /** The value of a DECIMAL, as the nearest double. */
    double decimal(JsonValue value) {
        String digits = text(value).toString();
        try {
            return Double.parseDouble(digits);
        } catch (NumberFormatException e) {
            throw new SharedDataException(
                    value + " of kind DECIMAL has the text '" + digits + "', which is not a number");
        }
    }
}
