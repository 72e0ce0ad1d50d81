package dev.rackcall.samples.documents;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedDataException;
import dev.rackcall.shm.types.SharedInlineArray;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.function.Predicate;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The store against a plain list of documents. */
class StoreTest {
    private static final long SEED = 11;
    private static final int LIMIT = 5;
    private final TestArena memory = new TestArena();
    private final Store store = new Store();

    @AfterEach
    void close() {
        store.close();
        assertThat(memory.arena.usedBytes()).as("bytes left in the arena").isZero();
        memory.close();
    }

    @Test
    void shouldFindWhatALinearSearchFinds() {
        long count = 3000;
        NoBench generator = NoBench.of(SEED, count);
        List<JsonDocument> all = new ArrayList<>(
                LongStream.range(0, count).mapToObj(generator::document).toList());
        Collections.shuffle(all, new Random(SEED));
        for (int from = 0; from < count; from += 100) {
            memory.add(store, all.subList(from, from + 100));
        }
        Random random = new Random(SEED);
        for (int i = 0; i < 200; i++) {
            JsonNode sample = all.get(random.nextInt(all.size())).content();
            findText(all, List.of("str1"), sample.get("str1").stringValue());
            findText(all, List.of("dyn1"), sample.get("dyn1").asString());
            findText(
                    all,
                    List.of("nested_obj", "str"),
                    sample.get("nested_obj").get("str").stringValue());
            String sparse = "sparse_" + (100 + random.nextInt(900));
            findText(all, List.of(sparse), sample.path(sparse).asString("nowhere"));
            sample.get("nested_arr").forEach(word -> findText(all, List.of("nested_arr"), word.stringValue()));
            double low = random.nextInt((int) count);
            findNumber(all, List.of("num"), low, low + random.nextInt(30));
            findNumber(all, List.of("nested_obj", "num"), low, low + 3);
            findNumber(all, List.of("dyn2"), low / 8, low / 8 + 1.5);
            findNumber(all, List.of("thousandth"), low % 1000, low % 1000);
        }
        findNumber(all, List.of("num"), Double.NEGATIVE_INFINITY, Double.POSITIVE_INFINITY);
        findNumber(all, List.of("num"), 10, 9);

        assertThat(store.summary().documents()).isEqualTo((int) count);
        assertThat(store.summary().digest())
                .isEqualTo(all.stream().mapToLong(Digest::of).sum());
    }

    @Test
    void shouldCountADocumentOnceIfSeveralValuesMatch() {
        List<JsonDocument> all = documents(
                "{\"a\":[1,2,3,\"x\",\"x\"]}", "{\"a\":2}", "{\"a\":[[2],[[2.5]]]}", "{\"a\":\"x\"}", "{\"b\":[1,2]}");
        memory.add(store, all);

        assertThat(store.withNumber(List.of("a"), 1, 3, LIMIT).total()).isEqualTo(3);
        assertThat(store.withText(List.of("a"), "x", LIMIT).total()).isEqualTo(2);
        findNumber(all, List.of("a"), 2, 2.5);
    }

    @Test
    void shouldGetTheLastDocumentWithANumber() {
        List<JsonDocument> all = documents("{\"a\":1}", "{\"a\":2}");
        memory.add(store, all);
        JsonDocument newer = new JsonDocument(1, all.getFirst().content());
        memory.add(store, List.of(newer));

        assertThat(new Digest().of(store.get(0))).isEqualTo(Digest.of(all.getFirst()));
        assertThat(new Digest().of(store.get(1))).isEqualTo(Digest.of(newer));
        assertThatThrownBy(() -> store.get(2)).hasMessageContaining("no document has the number 2");
        store.clear();
        assertThatThrownBy(() -> store.get(0)).hasMessageContaining("no document has the number 0");
    }

    @Test
    void shouldDistinguishPathsAndTypes() {
        List<JsonDocument> all = documents(
                "{\"a\":{\"b\":\"1\"}}",
                "{\"a.b\":\"1\"}",
                "{\"b\":{\"a\":\"1\"}}",
                "{\"a\":{\"b\":1}}",
                "{\"\":\"1\"}");
        memory.add(store, all);

        assertThat(numbers(store.withText(List.of("a", "b"), "1", LIMIT))).containsExactly(0L);
        assertThat(numbers(store.withText(List.of("a.b"), "1", LIMIT))).containsExactly(1L);
        assertThat(numbers(store.withText(List.of(""), "1", LIMIT))).containsExactly(4L);
        assertThat(numbers(store.withNumber(List.of("a", "b"), 1, 1, LIMIT))).containsExactly(3L);
        assertThat(store.withText(List.of(), "1", LIMIT).total()).isZero();
        assertThat(store.withText(List.of("nowhere"), "1", LIMIT).total()).isZero();
        assertThat(store.withNumber(List.of("b"), 1, 1, LIMIT).total()).isZero();
    }

    @Test
    void shouldFindNumbersOfEveryKind() {
        List<JsonDocument> all = documents(
                "{\"n\":-0.0}",
                "{\"n\":0}",
                "{\"n\":-1.5}",
                "{\"n\":123456789012345678901234567890}",
                "{\"n\":1e400}",
                "{\"n\":9007199254740993}");
        memory.add(store, all);

        assertThat(numbers(store.withNumber(List.of("n"), 0, 0, LIMIT))).containsExactly(0L, 1L);
        assertThat(numbers(store.withNumber(List.of("n"), -2, -1, LIMIT))).containsExactly(2L);
        assertThat(numbers(store.withNumber(List.of("n"), 1e29, 1e30, LIMIT))).containsExactly(3L);
        assertThat(numbers(store.withNumber(List.of("n"), 1e300, Double.POSITIVE_INFINITY, LIMIT)))
                .containsExactly(4L);
    }

    @Test
    void shouldStayUnchangedWhenABatchIsDamaged() {
        memory.add(store, documents("{\"a\":\"first\"}"));
        Scope scope = memory.arena.newScope();
        Document.Batch batch = new DocumentWriter().write(scope, documents("{\"a\":\"good\"}", "{\"a\":[0]}"));
        SharedInlineArray<JsonValue> members = JsonValue.CHILDREN.flyweight();
        assertThat(batch.documents().get(1).content().children(members)).isTrue();
        members.get(0).children(Ref.nullRef());
        scope.detach();

        assertThatThrownBy(() -> store.add(scope, batch))
                .isInstanceOf(SharedDataException.class)
                .hasMessageContaining("children");
        assertThat(store.summary().documents()).isOne();
        assertThat(store.withText(List.of("a"), "good", LIMIT).total()).isZero();
        assertThat(store.withText(List.of("a"), "first", LIMIT).total()).isOne();
    }

    @Test
    void shouldBeEmptyAfterClearAndTakeDocumentsAgain() {
        memory.add(store, documents("{\"a\":\"x\",\"n\":1}"));
        store.clear();
        assertThat(store.withText(List.of("a"), "x", LIMIT).total()).isZero();
        assertThat(memory.arena.usedBytes()).isZero();

        memory.add(store, documents("{\"b\":\"x\",\"a\":\"y\",\"n\":1}"));
        assertThat(store.withText(List.of("a"), "x", LIMIT).total()).isZero();
        assertThat(store.withText(List.of("a"), "y", LIMIT).total()).isOne();
        assertThat(store.withNumber(List.of("n"), 1, 1, 0).total()).isOne();
        assertThat(store.withNumber(List.of("n"), 1, 1, 0).documents()).isEmpty();
    }

    private void findText(List<JsonDocument> all, List<String> path, String text) {
        check(
                all,
                node -> at(
                        node,
                        path,
                        value -> value.isString() && value.stringValue().equals(text)),
                store.withText(path, text, LIMIT),
                path + " = " + text);
    }

    private void findNumber(List<JsonDocument> all, List<String> path, double low, double high) {
        check(
                all,
                node -> at(
                        node,
                        path,
                        value -> value.isNumber()
                                && value.decimalValue().doubleValue() >= low
                                && value.decimalValue().doubleValue() <= high),
                store.withNumber(path, low, high, LIMIT),
                path + " in " + low + ".." + high);
    }

    private static void check(List<JsonDocument> all, Predicate<JsonNode> matches, Found found, String what) {
        List<Long> expected = all.stream()
                .filter(document -> matches.test(document.content()))
                .map(JsonDocument::number)
                .sorted()
                .toList();
        assertThat(found.total()).as("%s, seed %d", what, SEED).isEqualTo(expected.size());
        assertThat(numbers(found))
                .as("%s, seed %d", what, SEED)
                .isEqualTo(expected.subList(0, Math.min(LIMIT, expected.size())));
    }

    private static boolean at(JsonNode node, List<String> path, Predicate<JsonNode> matches) {
        if (node.isArray()) {
            return node.values().stream().anyMatch(element -> at(element, path, matches));
        }
        if (path.isEmpty()) {
            return matches.test(node);
        }
        JsonNode member = node.get(path.getFirst());
        return member != null && at(member, path.subList(1, path.size()), matches);
    }

    private static List<JsonDocument> documents(String... texts) {
        List<JsonDocument> documents = new ArrayList<>();
        for (String text : texts) {
            documents.add(new JsonDocument(documents.size(), JsonText.MAPPER.readTree(text)));
        }
        return documents;
    }

    private static List<Long> numbers(Found found) {
        return found.documents().stream().map(Document::number).toList();
    }
}
