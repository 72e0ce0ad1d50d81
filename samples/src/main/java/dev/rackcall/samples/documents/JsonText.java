package dev.rackcall.samples.documents;

import dev.rackcall.shm.types.SharedInlineArray;
import java.math.BigDecimal;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.StreamReadFeature;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.DeserializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** Documents as JSON text, and the numbers in it. An instance writes for one thread; the mappers are thread-safe. */
public final class JsonText {
    /** The maximum nesting of arrays and objects in a document: protobuf reads 100 levels, of which a batch takes two. */
    public static final int MAX_DEPTH = 98;

    /** Reads documents: keeps every digit of numbers, and refuses an object with two members of one name. */
    public static final JsonMapper MAPPER = mapper(MAX_DEPTH, true);

    /** Reads an array of documents that {@link #MAPPER} has accepted; does not check for duplicate members. */
    public static final JsonMapper TRUSTING = mapper(MAX_DEPTH + 1, false);

    private final Cursors cursors = new Cursors();

    /** Writes a document's content. */
    public void write(Document document, JsonGenerator out) {
        write(cursors.root(document), 0, out);
    }

    private void write(JsonValue value, int depth, JsonGenerator out) {
        switch (value.kind()) {
            case OBJECT -> {
                SharedInlineArray<JsonValue> members = cursors.children(value, depth);
                out.writeStartObject();
                for (int i = 0; i < members.length(); i++) {
                    JsonValue member = cursors.child(members, i, depth);
                    out.writeName(cursors.name(member).toString());
                    write(member, depth + 1, out);
                }
                out.writeEndObject();
            }
            case ARRAY -> {
                SharedInlineArray<JsonValue> elements = cursors.children(value, depth);
                out.writeStartArray();
                for (int i = 0; i < elements.length(); i++) {
                    write(cursors.child(elements, i, depth), depth + 1, out);
                }
                out.writeEndArray();
            }
            case TEXT -> out.writeString(cursors.text(value).toString());
            case DECIMAL -> out.writeNumber(cursors.text(value).toString());
            case INTEGER -> out.writeNumber(value.bits());
            case DOUBLE -> out.writeNumber(Double.longBitsToDouble(value.bits()));
            case BOOLEAN -> out.writeBoolean(value.bits() != 0);
            case NULL -> out.writeNull();
        }
    }

    private static JsonMapper mapper(int depth, boolean refusesDuplicates) {
        return JsonMapper.builder(JsonFactory.builder()
                        .streamReadConstraints(StreamReadConstraints.builder()
                                .maxNestingDepth(depth)
                                .build())
                        .configure(StreamReadFeature.STRICT_DUPLICATE_DETECTION, refusesDuplicates)
                        .build())
                .enable(DeserializationFeature.USE_BIG_DECIMAL_FOR_FLOATS)
                .build();
    }

    /** Whether printing the nearest double results in this number. */
    static boolean isDouble(BigDecimal number) {
        double value = number.doubleValue();
        return Double.isFinite(value) && new BigDecimal(Double.toString(value)).compareTo(number) == 0;
    }

    /** The canonical text of a number. */
    static String digits(BigDecimal number) {
        return number.stripTrailingZeros().toString();
    }
}
