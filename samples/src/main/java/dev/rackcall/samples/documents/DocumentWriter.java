package dev.rackcall.samples.documents;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedArray;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.shm.types.SharedString;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.databind.JsonNode;

/**
 * Builds documents in a scope, from a tree of Jackson's or from JSON text. Each member name is written once for a
 * scope. Used by one thread; the reader bounds the depth, see {@link JsonText#MAX_DEPTH}.
 */
public final class DocumentWriter {
    private final Map<String, Ref<SharedString>> names = new HashMap<>();
    /** Children of all arrays and objects that are open, the innermost's last. */
    private final List<JsonValue> open = new ArrayList<>();

    private Scope scope;
    private long bytes;

    /** Begins to write into that scope. */
    public void begin(Scope target) {
        scope = target;
        names.clear();
        open.clear();
        bytes = 0;
    }

    /** Bytes of the objects that were written since {@link #begin}. */
    public long bytes() {
        return bytes;
    }

    /** Builds all documents, and a batch of them. */
    public Batch write(List<JsonDocument> documents) {
        SharedArray<Document> array = SharedArray.create(scope, SharedTypes.DOCUMENT, documents.size());
        for (int i = 0; i < documents.size(); i++) {
            JsonDocument document = documents.get(i);
            array.set(i, document(document.number(), value(document.content())));
        }
        return batch(array);
    }

    /** Builds one document of the value that the parser begins with next. */
    public Document read(long number, JsonParser parser) {
        return document(number, value(parser, parser.nextToken()));
    }

    /** A batch of documents that were built in this scope. */
    public Batch batch(List<Document> documents) {
        SharedArray<Document> array = SharedArray.create(scope, SharedTypes.DOCUMENT, documents.size());
        for (int i = 0; i < documents.size(); i++) {
            array.set(i, documents.get(i));
        }
        return batch(array);
    }

    private Batch batch(SharedArray<Document> array) {
        bytes += SharedTypes.BATCH.bytes() + arrayBytes(array.length());
        return SharedTypes.BATCH.create(scope).documents(array);
    }

    private Document document(long number, JsonValue content) {
        bytes += SharedTypes.DOCUMENT.bytes();
        return SharedTypes.DOCUMENT.create(scope).number(number).content(content);
    }

    // ---- from a tree

    private JsonValue value(JsonNode node) {
        return switch (node.getNodeType()) {
            case OBJECT -> object(node);
            case ARRAY -> array(node);
            case STRING -> text(Kind.TEXT, node.stringValue());
            case NUMBER -> number(node);
            case BOOLEAN -> bits(Kind.BOOLEAN, node.booleanValue() ? 1 : 0);
            default -> bits(Kind.NULL, 0);
        };
    }

    private JsonValue object(JsonNode node) {
        SharedArray<JsonValue> members = children(node.size());
        int i = 0;
        for (Map.Entry<String, JsonNode> member : node.properties()) {
            members.set(i++, value(member.getValue()).name(name(member.getKey())));
        }
        return parent(Kind.OBJECT, members);
    }

    private JsonValue array(JsonNode node) {
        SharedArray<JsonValue> elements = children(node.size());
        int i = 0;
        for (JsonNode element : node.values()) {
            elements.set(i++, value(element));
        }
        return parent(Kind.ARRAY, elements);
    }

    private JsonValue number(JsonNode node) {
        if (node.isIntegralNumber() && node.canConvertToLong()) {
            return bits(Kind.INTEGER, node.longValue());
        }
        return node.isDouble() ? real(node.doubleValue()) : real(node.decimalValue());
    }

    // ---- from text

    private JsonValue value(JsonParser parser, JsonToken token) {
        return switch (token) {
            case START_OBJECT -> object(parser);
            case START_ARRAY -> array(parser);
            case VALUE_STRING -> text(Kind.TEXT, parser.getString());
            case VALUE_NUMBER_INT ->
                parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                        ? real(parser.getDecimalValue())
                        : bits(Kind.INTEGER, parser.getLongValue());
            case VALUE_NUMBER_FLOAT ->
                JsonNumbers.isShort(parser.getStringLength(), parser.getDoubleValue())
                        ? real(parser.getDoubleValue())
                        : real(parser.getDecimalValue());
            case VALUE_TRUE -> bits(Kind.BOOLEAN, 1);
            case VALUE_FALSE -> bits(Kind.BOOLEAN, 0);
            default -> bits(Kind.NULL, 0);
        };
    }

    private JsonValue object(JsonParser parser) {
        int first = open.size();
        for (String name = parser.nextName(); name != null; name = parser.nextName()) {
            open.add(value(parser, parser.nextToken()).name(name(name)));
        }
        return parent(Kind.OBJECT, first);
    }

    private JsonValue array(JsonParser parser) {
        int first = open.size();
        for (JsonToken token = parser.nextToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
            open.add(value(parser, token));
        }
        return parent(Kind.ARRAY, first);
    }

    private JsonValue parent(Kind kind, int firstChild) {
        List<JsonValue> own = open.subList(firstChild, open.size());
        SharedArray<JsonValue> children = children(own.size());
        for (int i = 0; i < own.size(); i++) {
            children.set(i, own.get(i));
        }
        own.clear();
        return parent(kind, children);
    }

    // ---- the values

    private JsonValue real(BigDecimal number) {
        return JsonNumbers.isDouble(number) ? real(number.doubleValue()) : text(Kind.DECIMAL, JsonNumbers.text(number));
    }

    private JsonValue real(double number) {
        return bits(Kind.DOUBLE, Double.doubleToLongBits(number));
    }

    private JsonValue bits(Kind kind, long bits) {
        bytes += SharedTypes.JSON.bytes();
        return SharedTypes.JSON.create(scope).kind(kind).bits(bits);
    }

    private JsonValue text(Kind kind, String text) {
        return bits(kind, 0).text(SharedObject.toRef(string(text)));
    }

    private JsonValue parent(Kind kind, SharedArray<JsonValue> children) {
        return bits(kind, 0).children(SharedObject.toRef(children));
    }

    private SharedArray<JsonValue> children(int count) {
        bytes += arrayBytes(count);
        return SharedArray.create(scope, SharedTypes.JSON, count);
    }

    private Ref<SharedString> name(String name) {
        Ref<SharedString> known = names.get(name);
        if (known == null) {
            known = SharedObject.toRef(string(name));
            names.put(name, known);
        }
        return known;
    }

    private SharedString string(String text) {
        SharedString made = SharedString.create(scope, text);
        bytes += rounded(SharedString.TYPE.bytes() + made.length());
        return made;
    }

    private static long arrayBytes(int count) {
        return SharedTypes.CHILDREN.bytes() + (long) count * Long.BYTES;
    }

    private static long rounded(long size) {
        return (size + Long.BYTES - 1) & -Long.BYTES;
    }
}
