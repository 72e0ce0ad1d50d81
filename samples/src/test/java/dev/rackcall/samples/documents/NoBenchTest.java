package dev.rackcall.samples.documents;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.HashSet;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

class NoBenchTest {
    private static final long SEED = 42;
    private static final long COUNT = 2000;
    private final NoBench generator = NoBench.of(SEED, COUNT);

    @Test
    void shouldMakeTheSameDocumentsFromTheSameSeed() {
        NoBench again = NoBench.of(SEED, COUNT);
        long forwards = LongStream.range(0, COUNT)
                .map(i -> Digest.of(generator.document(i)))
                .sum();
        long backwards = LongStream.range(0, COUNT)
                .map(i -> Digest.of(again.document(COUNT - 1 - i)))
                .sum();

        assertThat(backwards).isEqualTo(forwards);
        assertThat(NoBench.of(SEED + 1, COUNT).document(3).content())
                .isNotEqualTo(generator.document(3).content());
    }

    /** The documents must stay the same from release to release, or figures cannot be compared. */
    @Test
    void shouldMakeExactlyThisDocument() {
        assertThat(generator.document(1).content().toString()).isEqualTo("""
                {
                "str1":"fpbwaiudwqenf",
                "str2":"6txg66s2a4mwg ntnfnw4hallvm",
                "num":971,
                "bool":true,
                "dyn1":749,
                "dyn2":true,
                "nested_obj":{"str":"xc5ppqgdd7yed",
                "num":1970},
                "nested_arr":["火山 2176"],
                "thousandth":971,
                "sparse_770":"zx2xixyxwpkug",
                "sparse_771":"uxnn7dysdqx5n",
                "sparse_772":"iu6p47c4ioohc",
                "sparse_773":"nbo3ra6w4y3yd",
                "sparse_774":"4c4otcr42jwzl",
                "sparse_775":"bh377rp3rka3l",
                "sparse_776":"4xojtn3iqjesj",
                "sparse_777":"zuqisd5d5w6kh",
                "sparse_778":"46p5f74e6xkzd",
                "sparse_779":"4ukmhcdqx6uxg"}""".replace("\n", ""));
    }

    @Test
    void shouldHaveTheFieldsOfNoBench() {
        Set<String> firsts = new HashSet<>();
        Set<String> sparse = new HashSet<>();
        for (long i = 0; i < COUNT; i++) {
            JsonNode content = generator.document(i).content();
            assertThat(content.get("num").isIntegralNumber()).isTrue();
            assertThat(content.get("num").intValue()).isBetween(0, (int) COUNT - 1);
            assertThat(content.get("thousandth").intValue())
                    .isEqualTo(content.get("num").intValue() % 1000);
            assertThat(content.get("bool").isBoolean()).isTrue();
            assertThat(content.get("nested_obj").get("str").isString()).isTrue();
            assertThat(content.get("nested_obj").get("num").isIntegralNumber()).isTrue();
            assertThat(content.get("nested_arr").size()).isBetween(0, 7);
            assertThat(content.propertyNames().stream().filter(name -> name.startsWith("sparse_")))
                    .hasSize(10)
                    .allMatch(name -> name.matches("sparse_\\d{3}"));
            content.propertyNames().stream()
                    .filter(name -> name.startsWith("sparse_"))
                    .forEach(sparse::add);
            firsts.add(content.get("str1").stringValue());
        }
        assertThat(firsts).hasSize((int) COUNT);
        assertThat(sparse).hasSize(1000);
    }

    @Test
    void shouldVaryTheTypesOfDynamicFields() {
        Set<String> types = new HashSet<>();
        IntStream.range(0, 200).forEach(i -> {
            JsonNode content = generator.document(i).content();
            types.add("dyn1 " + content.get("dyn1").getNodeType());
            types.add("dyn2 " + content.get("dyn2").getNodeType());
        });

        assertThat(types)
                .containsExactlyInAnyOrder(
                        "dyn1 NUMBER", "dyn1 STRING", "dyn2 NUMBER", "dyn2 STRING", "dyn2 BOOLEAN", "dyn2 NULL");
    }
}
