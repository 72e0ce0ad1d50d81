package dev.rackcall.perf.alock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.entry;

import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.Cores;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Measurement;
import dev.rackcall.perf.result.Result;
import java.io.PrintWriter;
import java.io.Writer;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

class LockTargetTest {
    private static final long NANOS = 100_000_000;

    private static List<Result> measure(String... names) {
        return new LockTarget(new BenchPlan(
                        List.of(),
                        List.of(names),
                        NANOS,
                        NANOS,
                        1,
                        OptionalDouble.empty(),
                        List.of(),
                        Cores.UNPINNED,
                        new PrintWriter(Writer.nullWriter())))
                .measure();
    }

    private static Result result(String name, long p50Ns, double opsPerS) {
        return Result.of(name, BenchTarget.ALOCK, 1, 0, new Measurement(p50Ns, p50Ns, p50Ns, p50Ns, p50Ns, 1, opsPerS));
    }

    @Test
    void shouldMeasureWhatIsNamedAndNothingElse() {
        List<Result> results = measure("verb-0-1000", "alock-95-100", "mcs-95-100", "verb-remote", "spin-loopback");
        assertThat(results)
                .extracting(Result::name)
                .containsExactly("verb-0-1000", "alock-95-100", "mcs-95-100", "verb-remote", "spin-loopback");
        assertThat(results).allMatch(result -> result.opsPerS() > 0);
        assertThat(results.get(1).figures()).containsKey("x_mcs").doesNotContainKeys("x_spin", "alone_x_mcs");
    }

    @Test
    void shouldHaveOneNameForEachMeasurement() {
        assertThat(LockTarget.names())
                .doesNotHaveDuplicates()
                .hasSize(2 + 8 + 2 + 3 * 4 * 3 + 3 + 3 * 3 * 3)
                .contains("alock-uncontended", "mcs-loopback", "spin-85-1000", "mcs-95-20-12", "alock-waiting-95-20");
    }

    @Test
    void shouldSayHowManyTimesTheOthersAnOperationTakesAlone() {
        Map<String, Result> compared = new LockComparison(List.of(
                        result("alock-uncontended", 100, 1e7),
                        result("alock-remote", 20_000, 5e4),
                        result("alock-waiting-remote", 40_000, 2.5e4),
                        result("spin-remote", 10_000, 1e5),
                        result("spin-loopback", 10_000, 1e5),
                        result("alock-90-20", 100, 3e6).with(LockContest.LOCALITY, 90),
                        result("alock-waiting-90-20", 100, 2e6).with(LockContest.LOCALITY, 90),
                        result("spin-90-20", 100, 1e6).with(LockContest.LOCALITY, 90)))
                .compared().stream().collect(Collectors.toMap(Result::name, Function.identity()));
        // 10,000 ns beside 0.9 * 100 + 0.1 * 20,000.
        assertThat(compared.get("alock-90-20").figures()).contains(entry("x_spin", 3.0), entry("alone_x_spin", 4.78));
        assertThat(compared.get("alock-remote").figures())
                .contains(entry("x_spin", 0.5))
                .doesNotContainKey("alone_x_spin");
        assertThat(compared.get("spin-90-20").figures()).doesNotContainKey("x_spin");
        // 10,000 ns beside 0.9 * 100 + 0.1 * 40,000.
        assertThat(compared.get("alock-waiting-90-20").figures())
                .contains(entry("x_spin", 2.0), entry("alone_x_spin", 2.44));
    }

    @Test
    void shouldSayWhereALockIsAtItsBest() {
        assertThat(LockComparison.best(List.of(
                        result("alock-100-20", 100, 1)
                                .with(LockContest.LOCALITY, 100)
                                .with("x_spin", 500.0),
                        result("alock-95-20", 100, 1)
                                .with(LockContest.LOCALITY, 95)
                                .with("x_spin", 10.0)
                                .with("x_mcs", 7.0),
                        result("alock-95-20-8", 100, 1)
                                .with(LockContest.LOCALITY, 95)
                                .with("x_spin", 21.5)
                                .with("x_mcs", 5.0),
                        result("spin-95-20-8", 100, 1).with(LockContest.LOCALITY, 95))))
                .containsExactly(
                        "at 100 % up to 500.0 times spin (alock-100-20)",
                        "at 95 % up to 21.5 times spin (alock-95-20-8), up to 7.0 times mcs (alock-95-20)");
    }
}
