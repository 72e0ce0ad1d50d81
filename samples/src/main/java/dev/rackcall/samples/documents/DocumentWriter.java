package dev.rackcall.samples.documents;

import dev.rackcall.samples.documents.JsonValue.Kind;
import dev.rackcall.samples.documents.proto.DocumentsProto.PlainDocument;
import dev.rackcall.samples.documents.proto.DocumentsProto.PlainValue;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedArray;
import dev.rackcall.shm.types.SharedInlineArray;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedString;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;

/**
 * Builds batches of documents in a scope, from Jackson's trees, JSON text or protobuf messages. Each member name is written once per
 * scope. Used by one thread; the reader bounds the depth, see {@link JsonText#MAX_DEPTH}.
 */
public final class DocumentWriter {
    private static final double MARGIN = 1.1;
    private static final double FIRST_BYTES_PER_DOCUMENT = 2048;

    private final Map<String, Ref<SharedString>> names = new HashMap<>();
    /** The values of all arrays and objects that are not complete, those of the innermost last. */
    private final List<OpenValue> open = new ArrayList<>();

    private final SharedInlineArray<JsonValue> children = JsonValue.CHILDREN.flyweight();
    private final JsonValue child = JsonValue.TYPE.flyweight();

    private Scope scope;
    private long bytes;
    private double bytesPerDocument = FIRST_BYTES_PER_DOCUMENT;

    /** The estimated size of a scope for this many documents, based on the last batch. */
    public long estimate(int documents) {
        return (long) (bytesPerDocument * documents * MARGIN);
    }

    /** Bytes of the objects in the last batch. */
    public long bytes() {
        return bytes;
    }

    /** Builds a batch in that scope. */
    public Document.Batch write(Scope target, List<JsonDocument> documents) {
        return batch(target, documents.size(), i -> {
            try (JsonParser content = documents.get(i).content().traverse(ObjectReadContext.empty())) {
                return document(documents.get(i).number(), content);
            }
        });
    }

    /** Builds a batch of the next {@code count} documents that a parser gives: for each, its number and its content. */
    public Document.Batch read(Scope target, JsonParser parser, int count) {
        return batch(target, count, i -> document(parser.nextLongValue(0), parser));
    }

    /** Builds a batch of documents that came as protobuf messages. */
    public Document.Batch read(Scope target, List<PlainDocument> documents) {
        return batch(target, documents.size(), i -> {
            value(documents.get(i).getContent());
            return document(documents.get(i).getNumber());
        });
    }

    private Document.Batch batch(Scope target, int count, IntFunction<Document> documents) {
        scope = target;
        names.clear();
        open.clear();
        bytes = Document.BATCH.bytes() + SharedArray.typeOf(Document.TYPE).bytes() + (long) count * Long.BYTES;
        SharedArray<Document> array = SharedArray.create(scope, Document.TYPE, count);
        for (int i = 0; i < count; i++) {
            array.set(i, documents.apply(i));
        }
        bytesPerDocument = count == 0 ? bytesPerDocument : (double) bytes / count;
        return Document.BATCH.create(scope).documents(array);
    }

    private Document document(long number, JsonParser content) {
        value(content, content.nextToken());
        return document(number);
    }

    /** Its content is the one open value. */
    private Document document(long number) {
        bytes += Document.TYPE.bytes();
        Document document = Document.TYPE.create(scope).number(number);
        open.removeLast().store(document.content());
        return document;
    }

    private void value(JsonParser parser, JsonToken token) {
        switch (token) {
            case START_OBJECT -> object(parser);
            case START_ARRAY -> array(parser);
            case VALUE_STRING -> text(Kind.TEXT, parser.getString());
            case VALUE_NUMBER_INT -> {
                if (parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
                    real(parser.getDecimalValue());
                } else {
                    bits(Kind.INTEGER, parser.getLongValue());
                }
            }
            case VALUE_NUMBER_FLOAT -> real(parser.getDecimalValue());
            case VALUE_TRUE -> bits(Kind.BOOLEAN, 1);
            case VALUE_FALSE -> bits(Kind.BOOLEAN, 0);
            default -> bits(Kind.NULL, 0);
        }
    }

    private void object(JsonParser parser) {
        int first = open.size();
        for (String name = parser.nextName(); name != null; name = parser.nextName()) {
            Ref<SharedString> shared = name(name);
            value(parser, parser.nextToken());
            open.getLast().name = shared;
        }
        parent(Kind.OBJECT, first);
    }

    private void array(JsonParser parser) {
        int first = open.size();
        for (JsonToken token = parser.nextToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
            value(parser, token);
        }
        parent(Kind.ARRAY, first);
    }

    private void value(PlainValue value) {
        switch (value.getContentCase()) {
            case TRUTH -> bits(Kind.BOOLEAN, value.getTruth() ? 1 : 0);
            case WHOLE -> bits(Kind.INTEGER, value.getWhole());
            case REAL -> bits(Kind.DOUBLE, Double.doubleToLongBits(value.getReal()));
            case DIGITS -> text(Kind.DECIMAL, value.getDigits());
            case TEXT -> text(Kind.TEXT, value.getText());
            case PARENT -> {
                boolean object = value.getParent() == PlainValue.Parent.OBJECT;
                int first = open.size();
                for (PlainValue child : value.getChildrenList()) {
                    value(child);
                    if (object) {
                        open.getLast().name = name(child.getName());
                    }
                }
                parent(object ? Kind.OBJECT : Kind.ARRAY, first);
            }
            case CONTENT_NOT_SET -> bits(Kind.NULL, 0);
        }
    }

    private void parent(Kind kind, int firstChild) {
        List<OpenValue> own = open.subList(firstChild, open.size());
        SharedInlineArray.create(scope, own.size(), children);
        bytes += JsonValue.CHILDREN.bytes() + (long) own.size() * (JsonValue.TYPE.bytes() - Long.BYTES);
        for (int i = 0; i < own.size(); i++) {
            children.get(i, child);
            own.get(i).store(child);
        }
        own.clear();
        bits(kind, 0);
        open.getLast().children = SharedObject.toRef(children);
    }

    private void real(BigDecimal number) {
        if (JsonText.isDouble(number)) {
            bits(Kind.DOUBLE, Double.doubleToLongBits(number.doubleValue()));
        } else {
            text(Kind.DECIMAL, JsonText.digits(number));
        }
    }

    private void text(Kind kind, String text) {
        bits(kind, 0);
        open.getLast().text = SharedObject.toRef(string(text));
    }

    private void bits(Kind kind, long bits) {
        open.add(new OpenValue(kind, bits));
    }

    private Ref<SharedString> name(String name) {
        return names.computeIfAbsent(name, text -> SharedObject.toRef(string(text)));
    }

    private SharedString string(String text) {
        SharedString made = SharedString.create(scope, text);
        long size = (long) SharedString.TYPE.bytes() + made.length();
        bytes += (size + Long.BYTES - 1) & -Long.BYTES;
        return made;
    }

    /** A value that is written when all values of its parent are known. */
    private static final class OpenValue {
        private final Kind kind;
        private final long bits;
        private Ref<SharedString> name = Ref.nullRef();
        private Ref<SharedString> text = Ref.nullRef();
        private Ref<SharedInlineArray<JsonValue>> children = Ref.nullRef();

        OpenValue(Kind kind, long bits) {
            this.kind = kind;
            this.bits = bits;
        }

        void store(JsonValue into) {
            into.kind(kind).bits(bits).name(name).text(text).children(children);
        }
    }
}
