package dev.rackcall.perf.result;

/**
 * A figure that differs from that of an earlier run by more than noise.
 *
 * @param target the target that measured it
 * @param name the subject
 * @param inFlight calls in flight
 * @param figure the figure's JSON name
 * @param before what the earlier run measured
 * @param after what this run measured
 * @param isBetter whether the subject has become better
 */
public record Change(
        BenchTarget target, String name, int inFlight, String figure, double before, double after, boolean isBetter) {
    /** The change in one line. */
    public String sentence() {
        return "%s %s%s: %s %s -> %s%s"
                .formatted(
                        target.word(),
                        name,
                        inFlight > 1 ? " (" + inFlight + " in flight)" : "",
                        figure,
                        Figures.of(figure, before),
                        Figures.of(figure, after),
                        before == 0 ? "" : " (%+.0f %%)".formatted(100 * (after / before - 1)));
    }
}
