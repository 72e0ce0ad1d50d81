package dev.rackcall.samples.documents;

import java.util.List;
import java.util.Optional;
import java.util.PrimitiveIterator;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Documents in the manner of NoBench (Chasseur, Li, Patel: Enabling JSON Document Stores in Relational Systems, WebDB 2013): some common fields,
 * two of varying type, a nested object, an array of words, and ten of a thousand sparse fields. A document depends only on the seed and its
 * number, so any process can make any document. Thread-safe.
 */
public final class NoBench {
    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;
    /** The increment of SplitMix64's state for each draw. */
    private static final long GOLDEN = 0x9e3779b97f4a7c15L;

    private static final int SPARSE_FIELDS = 1000;
    private static final int SPARSE_GROUP = 10;
    private static final int PHRASES = 10_000;
    private static final int LONGEST_ARRAY = 7;
    private static final int WORD_LETTERS = 13;
    private static final List<String> WORDS = List.of(
            "alpha", "größe", "señal", "delta", "naïve", "火山", "kappa", "lambda", "omega", "sigma", "🜁", "zeta");

    private final long seed;
    private final long count;

    private NoBench(long seed, long count) {
        this.seed = seed;
        this.count = count;
    }

    /** The documents 0 to {@code count - 1} of that seed. */
    public static NoBench of(long seed, long count) {
        return new NoBench(seed, count);
    }

    /** One of {@code shares} equal parts of the documents; {@code share} counts from 0. */
    public DocumentSource share(int share, int shares) {
        PrimitiveIterator.OfLong numbers = LongStream.iterate(
                        share, number -> number < count, number -> number + shares)
                .iterator();
        return () -> numbers.hasNext() ? Optional.of(document(numbers.nextLong())) : Optional.empty();
    }

    public JsonDocument document(long number) {
        Draws draws = new Draws(new SplittableRandom(Digest.mix(seed, number)));
        ObjectNode content = NODES.objectNode();
        long num = draws.below(count);
        content.put("str1", word(number));
        content.put("str2", word(draws.below(PHRASES)) + " " + word(draws.below(PHRASES)));
        content.put("num", num);
        content.put("bool", draws.below(2) == 1);
        putVarying(content, "dyn1", (int) draws.below(2), draws);
        putVarying(content, "dyn2", (int) draws.below(5), draws);
        content.putObject("nested_obj").put("str", word(draws.below(count))).put("num", draws.below(count));
        ArrayNode words = content.putArray("nested_arr");
        for (long left = draws.below(LONGEST_ARRAY + 1); left > 0; left--) {
            words.add(WORDS.get((int) draws.below(WORDS.size())) + " " + draws.below(PHRASES));
        }
        content.put("thousandth", num % 1000);
        long first = SPARSE_GROUP * draws.below(SPARSE_FIELDS / SPARSE_GROUP);
        for (int i = 0; i < SPARSE_GROUP; i++) {
            content.put("sparse_" + threeDigits(first + i), word(draws.random().nextLong()));
        }
        return new JsonDocument(number, content);
    }

    private void putVarying(ObjectNode content, String name, int kind, Draws draws) {
        switch (kind) {
            case 0 -> content.put(name, draws.below(count));
            case 1 -> content.put(name, word(draws.below(PHRASES)));
            case 2 -> content.put(name, draws.below(2) == 1);
            case 3 -> content.put(name, draws.below(count) / 8.0);
            default -> content.putNull(name);
        }
    }

    /** A different word of letters and digits for each number. */
    private static String word(long number) {
        char[] letters = new char[WORD_LETTERS];
        long rest = new SplittableRandom(number - GOLDEN).nextLong();
        for (int i = 0; i < WORD_LETTERS; i++) {
            letters[i] = "abcdefghijklmnopqrstuvwxyz234567".charAt((int) rest & 31);
            rest >>>= 5;
        }
        return new String(letters);
    }

    private static String threeDigits(long number) {
        return Long.toString(SPARSE_FIELDS + number).substring(1);
    }

    /** The JDK's SplittableRandom is SplitMix64 (Steele, Lea, Flood, OOPSLA 2014), whose draws a test pins. */
    private record Draws(SplittableRandom random) {
        long below(long bound) {
            return Math.unsignedMultiplyHigh(random.nextLong(), bound);
        }
    }
}
