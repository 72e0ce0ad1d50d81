package dev.rackcall.perf.result;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import java.util.Map;
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
    private static final JsonMapper JSON = JsonMapper.builder()
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

    public String toJson() {
        return JSON.writeValueAsString(this) + System.lineSeparator();
    }
}
