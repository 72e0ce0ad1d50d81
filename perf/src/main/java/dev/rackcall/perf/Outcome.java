package dev.rackcall.perf;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import java.util.List;

/**
 * All that a run found; what the JSON shows.
 *
 * @param machine where and how
 * @param results one for each subject, target and depth
 * @param micro what JMH found; left out of the JSON if it did not run
 * @param skipped what this host lacks something for; left out of the JSON if there is none
 * @param failures what could not be measured, and why; left out of the JSON if there is none
 */
record Outcome(
        Machine machine,
        List<Result> results,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<Micro> micro,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> skipped,
        @JsonInclude(JsonInclude.Include.NON_EMPTY) List<String> failures) {
    /** Whether all was measured that this host can measure, and that is something. */
    @JsonIgnore
    boolean isComplete() {
        return failures.isEmpty() && !(results.isEmpty() && micro.isEmpty());
    }

    /** Where seals and snapshots cost the same; empty unless the target isolation has measured it. */
    @JsonProperty("auto_crossings")
    @JsonInclude(JsonInclude.Include.NON_EMPTY)
    List<Crossing> crossings() {
        return Crossing.of(results);
    }
}
