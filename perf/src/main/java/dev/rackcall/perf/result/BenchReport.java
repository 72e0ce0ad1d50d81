package dev.rackcall.perf.result;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonUnwrapped;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * What {@code rackcall report} found. Its JSON has the fields of the outcome, so that it can be compared as that of
 * {@code bench}.
 *
 * @param commit what was measured
 * @param tookS length of the run in seconds
 * @param outcome the measurements
 * @param against the comparison with an earlier run, if asked for
 */
public record BenchReport(
        String commit,
        double tookS,
        @JsonUnwrapped BenchOutcome outcome,
        @JsonInclude(JsonInclude.Include.NON_ABSENT) Optional<RunComparison> against) {
    /** A paper's number beside ours. */
    public record PaperRow(
            String paper,
            @JsonUnwrapped Paper.PaperFigure figure,
            @JsonInclude(JsonInclude.Include.NON_ABSENT) OptionalDouble ours) {}

    /** All numbers of the papers, beside ours where this run measured them. */
    @JsonProperty
    public List<PaperRow> papers() {
        return Paper.all().stream()
                .flatMap(paper -> paper.figures().stream()
                        .map(figure -> new PaperRow(paper.paper(), figure, figure.in(outcome.results()))))
                .toList();
    }

    /** The JSON object, indented. */
    public String toJson() {
        return BenchOutcome.JSON.writeValueAsString(this) + System.lineSeparator();
    }
}
