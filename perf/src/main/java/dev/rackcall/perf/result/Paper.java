package dev.rackcall.perf.result;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;

/**
 * A paper whose figures reports show beside those of the run. All are in {@code papers.json}.
 *
 * @param paper the system's name
 * @param source where its numbers were published
 * @param hardware what they were measured on
 * @param figures the numbers
 */
public record Paper(String paper, String source, String hardware, List<PaperFigure> figures) {
    private static final String FILE = "papers.json";

    /**
     * One of its numbers, and which of ours stands beside it.
     *
     * @param where table, figure or text
     * @param what was measured
     * @param theirs the number, in the unit of our figure
     * @param target the target that measures ours
     * @param name our subject
     * @param figure our figure by its JSON name
     * @param differs what differs beside the hardware
     */
    public record PaperFigure(
            String where, String what, double theirs, String target, String name, String figure, String differs) {
        /** Ours in a run; empty if it did not measure it. */
        public OptionalDouble in(List<Result> results) {
            return results.stream()
                    .filter(result -> result.target().word().equals(target)
                            && result.name().equals(name))
                    .findFirst()
                    .map(result -> result.figure(figure))
                    .orElse(OptionalDouble.empty());
        }
    }

    /** All papers. */
    public static List<Paper> all() {
        try (InputStream file =
                Optional.ofNullable(Paper.class.getResourceAsStream(FILE)).orElseThrow()) {
            return Arrays.asList(BenchOutcome.JSON.readValue(file, Paper[].class));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
