package dev.rackcall.perf.result;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/**
 * Everything that a run found. Its JSON leaves out empty lists from {@code micro} on.
 *
 * @param machine where and how
 * @param results one for each subject, target and depth
 * @param micro what JMH measured
 * @param skipped subjects that this host cannot measure, and why
 * @param failures subjects that could not be measured, and why
 * @param autoCrossings where seals and snapshots cost the same, if the target isolation measured both
 * @param notes sentences below a target's table; not in the JSON
 * @param settings what was chosen for each measured subject; not in the JSON
 */
public record BenchOutcome(
        Machine machine,
        List<Result> results,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Micro> micro,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> skipped,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> failures,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Crossing> autoCrossings,
        @JsonIgnore Map<BenchTarget, List<String>> notes,
        @JsonIgnore Map<String, String> settings) {
    /** Snake case ({@code p50_ns}), absent values left out, fields in the order of declaration. */
    static final JsonMapper JSON = JsonMapper.builder()
            .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
            .changeDefaultPropertyInclusion(inclusion -> inclusion.withValueInclusion(JsonInclude.Include.NON_ABSENT))
            .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
            .enable(SerializationFeature.INDENT_OUTPUT)
            .build();

    /** Whether everything was measured that this host can measure, and there was something to measure. */
    @JsonIgnore
    public boolean isComplete() {
        return failures.isEmpty() && !(results.isEmpty() && micro.isEmpty());
    }

    /**
     * What a run wrote: machine, results and micro-benchmarks.
     *
     * @throws IllegalArgumentException if it is no JSON of {@code bench} or {@code report}
     */
    public static BenchOutcome parse(String json) {
        try {
            JsonNode tree = JSON.readTree(json);
            List<Result> results = new ArrayList<>();
            for (JsonNode each : tree.required("results")) {
                String name = text(each, "name");
                BenchTarget target = BenchTarget.named(text(each, "target"));
                Map<String, Object> figures = new LinkedHashMap<>();
                each.properties()
                        .forEach(figure ->
                                figures.put(figure.getKey(), JSON.treeToValue(figure.getValue(), Object.class)));
                figures.remove("name");
                results.add(new Result(name, target, figures));
            }
            List<Micro> micro = new ArrayList<>();
            tree.path("micro").forEach(each -> micro.add(JSON.treeToValue(each, Micro.class)));
            Machine machine = JSON.treeToValue(tree.required("machine"), Machine.class);
            return new BenchOutcome(machine, results, micro, List.of(), List.of(), List.of(), Map.of(), Map.of());
        } catch (JacksonException e) {
            throw new IllegalArgumentException(e.getOriginalMessage(), e);
        }
    }

    private static String text(JsonNode result, String field) {
        if (!result.path(field).isString()) {
            throw new IllegalArgumentException("a result without " + field);
        }
        return result.path(field).stringValue();
    }

    /** The JSON object, indented. */
    public String toJson() {
        return JSON.writeValueAsString(this) + System.lineSeparator();
    }
}
