package dev.rackcall.samples.demo;

import dev.rackcall.samples.documents.DocumentStore;
import dev.rackcall.samples.documents.Found;
import dev.rackcall.samples.documents.JsonDocument;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import tools.jackson.databind.JsonNode;

/**
 * Searches with results, drawn from a sample of the documents: for a text of one of them, or for a range of numbers. A
 * range begins at a number of the sample and spans a thousandth of the sample's range at that path. The same documents
 * and seed give the same searches.
 */
final class QueryPlan {
    private static final int SAMPLE = 1000;
    private static final double SPAN = 1e-3;

    private final List<Query> texts = new ArrayList<>();
    private final List<Query> numbers = new ArrayList<>();
    private final Map<List<String>, Double> least = new HashMap<>();
    private final Map<List<String>, Double> greatest = new HashMap<>();
    private final SplittableRandom random;

    QueryPlan(List<JsonDocument> documents, long seed) {
        random = new SplittableRandom(seed);
        int step = Math.max(1, documents.size() / SAMPLE);
        for (int i = 0; i < documents.size(); i += step) {
            collect(List.of(), documents.get(i).content());
        }
    }

    private void collect(List<String> path, JsonNode node) {
        if (node.isString()) {
            texts.add(new Query(path, Optional.of(node.stringValue()), 0, 0));
        } else if (node.isNumber()) {
            double number = node.decimalValue().doubleValue();
            numbers.add(range(path, number, number));
            least.merge(path, number, Math::min);
            greatest.merge(path, number, Math::max);
        } else if (node.isArray()) {
            node.forEach(element -> collect(path, element));
        } else {
            node.properties().forEach(member -> {
                List<String> longer = new ArrayList<>(path);
                longer.add(member.getKey());
                collect(List.copyOf(longer), member.getValue());
            });
        }
    }

    /** The next search; half are for texts if the documents have both. Empty if they have neither texts nor numbers. */
    Optional<Query> next() {
        if (texts.isEmpty() && numbers.isEmpty()) {
            return Optional.empty();
        }
        boolean text = numbers.isEmpty() || (!texts.isEmpty() && random.nextBoolean());
        return Optional.of(
                text ? texts.get(random.nextInt(texts.size())) : widened(numbers.get(random.nextInt(numbers.size()))));
    }

    private Query widened(Query number) {
        double span = (greatest.get(number.path()) - least.get(number.path())) * SPAN;
        return range(number.path(), number.low(), number.low() + span);
    }

    private static Query range(List<String> path, double low, double high) {
        return new Query(path, Optional.empty(), low, high);
    }

    /** A search for documents that have that text at that path; without a text, for those that have a number in that range. */
    record Query(List<String> path, Optional<String> text, double low, double high) {
        Found find(DocumentStore store, int limit) {
            return text.isPresent()
                    ? store.withText(path, text.get(), limit)
                    : store.withNumber(path, low, high, limit);
        }
    }
}
