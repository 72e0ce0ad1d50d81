package dev.rackcall.samples.documents;

import dev.rackcall.samples.documents.JsonValue.Kind;
import dev.rackcall.samples.documents.proto.DocumentsProto.PlainDocument;
import dev.rackcall.samples.documents.proto.DocumentsProto.PlainValue;
import dev.rackcall.shm.types.SharedInlineArray;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * A 64-bit hash of a document's content, equal for a document in shared memory and for the same document as a Jackson
 * tree or a protobuf message. The order of members does not matter. Used by one thread.
 */
public final class Digest {
    private static final VarHandle WORD = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final long START = 0xa0761d6478bd642fL;
    private static final long FACTOR = 0xe7037ed1a0b428dbL;

    private final Cursors cursors = new Cursors();

    /** Reads the whole document where it lies. */
    public long of(Document document) {
        return mix(document.number(), of(cursors.root(document), 0));
    }

    /** Reads the whole tree. */
    public static long of(JsonDocument document) {
        return mix(document.number(), of(document.content()));
    }

    /** Reads the whole message. */
    public static long of(PlainDocument document) {
        return mix(document.getNumber(), of(document.getContent()));
    }

    private long of(JsonValue value, int depth) {
        Kind kind = value.kind();
        return switch (kind) {
            case OBJECT -> {
                SharedInlineArray<JsonValue> members = cursors.children(value, depth);
                long sum = 0;
                for (int i = 0; i < members.length(); i++) {
                    JsonValue member = cursors.child(members, i, depth);
                    long name = hash(cursors.name(member).toString());
                    sum += mix(name, of(member, depth + 1));
                }
                yield digest(kind, sum);
            }
            case ARRAY -> {
                SharedInlineArray<JsonValue> elements = cursors.children(value, depth);
                long sequence = elements.length();
                for (int i = 0; i < elements.length(); i++) {
                    sequence = mix(sequence, of(cursors.child(elements, i, depth), depth + 1));
                }
                yield digest(kind, sequence);
            }
            case TEXT, DECIMAL -> digest(kind, hash(cursors.text(value).toString()));
            case INTEGER, DOUBLE, BOOLEAN, NULL -> digest(kind, value.bits());
        };
    }

    private static long of(JsonNode node) {
        return switch (node.getNodeType()) {
            case OBJECT -> {
                long sum = 0;
                for (Map.Entry<String, JsonNode> member : node.properties()) {
                    sum += mix(hash(member.getKey()), of(member.getValue()));
                }
                yield digest(Kind.OBJECT, sum);
            }
            case ARRAY -> {
                long sequence = node.size();
                for (JsonNode element : node.values()) {
                    sequence = mix(sequence, of(element));
                }
                yield digest(Kind.ARRAY, sequence);
            }
            case STRING -> digest(Kind.TEXT, hash(node.stringValue()));
            case NUMBER -> number(node);
            case BOOLEAN -> digest(Kind.BOOLEAN, node.booleanValue() ? 1 : 0);
            default -> digest(Kind.NULL, 0);
        };
    }

    private static long of(PlainValue value) {
        return switch (value.getContentCase()) {
            case PARENT ->
                value.getParent() == PlainValue.Parent.OBJECT
                        ? ofMembers(value.getChildrenList())
                        : ofElements(value.getChildrenList());
            case TEXT -> digest(Kind.TEXT, hash(value.getText()));
            case DIGITS -> digest(Kind.DECIMAL, hash(value.getDigits()));
            case WHOLE -> digest(Kind.INTEGER, value.getWhole());
            case REAL -> digest(Kind.DOUBLE, Double.doubleToLongBits(value.getReal()));
            case TRUTH -> digest(Kind.BOOLEAN, value.getTruth() ? 1 : 0);
            case CONTENT_NOT_SET -> digest(Kind.NULL, 0);
        };
    }

    private static long ofMembers(List<PlainValue> members) {
        long sum = 0;
        for (PlainValue member : members) {
            sum += mix(hash(member.getName()), of(member));
        }
        return digest(Kind.OBJECT, sum);
    }

    private static long ofElements(List<PlainValue> elements) {
        long sequence = elements.size();
        for (PlainValue element : elements) {
            sequence = mix(sequence, of(element));
        }
        return digest(Kind.ARRAY, sequence);
    }

    private static long number(JsonNode node) {
        if (node.isIntegralNumber() && node.canConvertToLong()) {
            return digest(Kind.INTEGER, node.longValue());
        }
        return node.isDouble() || JsonText.isDouble(node.decimalValue())
                ? digest(Kind.DOUBLE, Double.doubleToLongBits(node.doubleValue()))
                : digest(Kind.DECIMAL, hash(JsonText.digits(node.decimalValue())));
    }

    /** Of its characters: a message or a tree has texts as strings, and a reader in shared memory makes them. */
    private static long hash(String text) {
        long hash = START ^ text.length();
        for (int i = 0; i < text.length(); i++) {
            hash = (hash ^ text.charAt(i)) * FACTOR;
        }
        return hash ^ (hash >>> Integer.SIZE);
    }

    private static long digest(Kind kind, long content) {
        return mix(kind.ordinal(), content);
    }

    /** The hash of bytes. */
    static long of(byte[] bytes) {
        long hash = START ^ bytes.length;
        int at = 0;
        for (; at <= bytes.length - Long.BYTES; at += Long.BYTES) {
            hash = mix(hash, (long) WORD.get(bytes, at));
        }
        long tail = 0;
        for (int shift = 0; at < bytes.length; at++, shift += Byte.SIZE) {
            tail |= (bytes[at] & 0xffL) << shift;
        }
        return mix(hash, tail);
    }

    /** Extends the hash of a sequence of longs by its next element, by multiplication to 128 bits. */
    static long mix(long hash, long next) {
        long mixed = (hash * START) ^ (next + FACTOR);
        return Math.unsignedMultiplyHigh(mixed, FACTOR) ^ (mixed * FACTOR);
    }
}
