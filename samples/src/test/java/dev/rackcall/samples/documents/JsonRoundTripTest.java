package dev.rackcall.samples.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.InvalidProtocolBufferException;
import dev.rackcall.samples.documents.JsonValue.Kind;
import dev.rackcall.samples.documents.proto.DocumentsProto.PlainBatch;
import dev.rackcall.samples.documents.proto.DocumentsProto.PlainDocument;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedDataException;
import dev.rackcall.shm.types.SharedInlineArray;
import dev.rackcall.shm.types.SharedObject;
import java.io.StringWriter;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.core.JsonGenerator;
import tools.jackson.core.JsonParser;
import tools.jackson.databind.JsonNode;

class JsonRoundTripTest {
    private static final long NUMBER = 7;

    static Stream<String> texts() {
        return Stream.of(
                "{}",
                "[]",
                "null",
                "{\"a\":{},\"b\":[],\"c\":\"\",\"\":null}",
                "{\"t\":true,\"f\":false,\"n\":null}",
                "{\"a\":[1,[2,[3,{\"b\":[]}]],\"x\"],\"c\":{\"d\":{\"e\":{\"f\":\"g\"}}}}",
                "{\"größe\":\"ß\",\"火\":\"山 🜁 \\u0000 \\\" \\\\ \\n\",\"e\":\"é\"}",
                "{\"min\":-9223372036854775808,\"max\":9223372036854775807,\"zero\":0}",
                "{\"beyond\":9223372036854775808,\"far\":" + "9".repeat(300) + "}",
                "{\"pi\":3.14159265358979323846264338327950288,\"tenth\":0.1,\"third\":0.333333333333333333}",
                "{\"huge\":1e400,\"tiny\":1e-400,\"big\":1.7976931348623157E308,\"small\":4.9E-324,\"e\":1.25e10}",
                "{\"rounds\":9007199254740993.5,\"subnormal\":1.23456e-320,\"whole\":100.0}",
                "{\"a\":1,\"b\":{\"a\":2,\"b\":{\"a\":3}}}",
                nested(JsonText.MAX_DEPTH));
    }

    @ParameterizedTest
    @MethodSource("texts")
    void shouldReadBackWhatWasWritten(String text) throws InvalidProtocolBufferException {
        JsonNode content = JsonText.MAPPER.readTree(text);
        JsonDocument source = new JsonDocument(NUMBER, content);
        try (TestArena memory = new TestArena();
                Scope scope = memory.arena.newScope();
                JsonParser parser = JsonText.TRUSTING.createParser("[" + NUMBER + "," + text + "]")) {
            parser.nextToken();
            DocumentWriter writer = new DocumentWriter();

            Document fromTree = writer.write(scope, List.of(source)).documents().get(0);
            Document fromText = writer.read(scope, parser, 1).documents().get(0);

            PlainBatch sent = PlainBatch.newBuilder()
                    .addDocuments(PlainDocuments.of(source))
                    .build();
            PlainDocument message = PlainBatch.parseFrom(sent.toByteArray()).getDocuments(0);
            Document fromMessage =
                    writer.read(scope, List.of(message)).documents().get(0);

            assertThat(Digest.of(message)).isEqualTo(Digest.of(source));
            for (Document document : List.of(fromTree, fromText, fromMessage)) {
                assertThat(sameNumbers(JsonText.MAPPER.readTree(text(document)), content))
                        .as(text(document))
                        .isTrue();
                assertThat(new Digest().of(document)).isEqualTo(Digest.of(source));
            }
        }
    }

    @Test
    void shouldKeepTheOrderOfMembersAndShareTheirNames() {
        try (TestArena memory = new TestArena();
                Scope scope = memory.arena.newScope()) {
            String text = "{\"z\":1,\"a\":{\"z\":2},\"m\":3}";
            Document document = written(scope, text);

            SharedInlineArray<JsonValue> members = JsonValue.CHILDREN.flyweight();
            SharedInlineArray<JsonValue> inner = JsonValue.CHILDREN.flyweight();
            assertThat(document.content().children(members)).isTrue();
            assertThat(members.get(1).children(inner)).isTrue();

            assertThat(text(document)).isEqualTo(text);
            assertThat(inner.get(0).name()).isEqualTo(members.get(0).name());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{\"a\":1}",
                "{\"a\":2.0}",
                "{\"a\":\"2\"}",
                "{\"b\":2}",
                "{\"a\":[2]}",
                "{\"a\":{\"\":2}}",
                "{\"a\":true}",
                "{\"a\":2,\"b\":null}"
            })
    void shouldDigestDifferentContentDifferently(String other) {
        assertThat(digest(other)).isNotEqualTo(digest("{\"a\":2}"));
        assertThat(digest("[1,2]")).isNotEqualTo(digest("[2,1]"));
        assertThat(digest("{\"x\":1,\"y\":2}")).isEqualTo(digest("{\"y\":2,\"x\":1}"));
    }

    @Test
    void shouldRefuseADocumentThatIsTooDeep() {
        assertThatThrownBy(() -> JsonText.MAPPER.readTree(nested(JsonText.MAX_DEPTH + 1)))
                .hasMessageContaining("nesting depth");
    }

    /** A peer can build what JSON text cannot express. */
    @Test
    void shouldRefuseACycle() {
        try (TestArena memory = new TestArena();
                Scope scope = memory.arena.newScope()) {
            Document document = written(scope, "{\"a\":[0]}");
            SharedInlineArray<JsonValue> members = JsonValue.CHILDREN.flyweight();
            assertThat(document.content().children(members)).isTrue();
            JsonValue array = members.get(0);
            array.children(document.content().children());

            assertThatThrownBy(() -> text(document))
                    .isInstanceOf(SharedDataException.class)
                    .hasMessageContaining("deep");
            assertThatThrownBy(() -> new Digest().of(document)).isInstanceOf(SharedDataException.class);
        }
    }

    @Test
    void shouldRefuseTooManyPathsToOneValue() {
        try (TestArena memory = new TestArena();
                Scope scope = memory.arena.newScope()) {
            Ref<SharedInlineArray<JsonValue>> inner = Ref.nullRef();
            for (int level = 0; level < JsonText.MAX_DEPTH; level++) {
                SharedInlineArray<JsonValue> both = SharedInlineArray.create(scope, JsonValue.TYPE, 2);
                Kind kind = level == 0 ? Kind.NULL : Kind.ARRAY;
                both.get(0).kind(kind).children(inner);
                both.get(1).kind(kind).children(inner);
                inner = SharedObject.toRef(both);
            }
            Document document = Document.TYPE.create(scope);
            document.content().kind(Kind.ARRAY).children(inner);

            assertThatThrownBy(() -> new Digest().of(document))
                    .isInstanceOf(SharedDataException.class)
                    .hasMessageContaining("values");
        }
    }

    private static Document written(Scope scope, String text) {
        return new DocumentWriter()
                .write(scope, List.of(new JsonDocument(NUMBER, JsonText.MAPPER.readTree(text))))
                .documents()
                .get(0);
    }

    private static String text(Document document) {
        StringWriter text = new StringWriter();
        try (JsonGenerator out = JsonText.MAPPER.createGenerator(text)) {
            new JsonText().write(document, out);
        }
        return text.toString();
    }

    private static long digest(String text) {
        return Digest.of(new JsonDocument(NUMBER, JsonText.MAPPER.readTree(text)));
    }

    private static String nested(int depth) {
        return "[".repeat(depth) + "0" + "]".repeat(depth);
    }

    /** 100.0 and 1E+2 are the same number, but Jackson's nodes differ. */
    private static boolean sameNumbers(JsonNode left, JsonNode right) {
        return left.equals(
                (a, b) -> {
                    if (a.isNumber() && b.isNumber()) {
                        return a.decimalValue().compareTo(b.decimalValue());
                    }
                    return a.equals(b) ? 0 : 1;
                },
                right);
    }
}
