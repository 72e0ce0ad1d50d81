package dev.rackcall.perf.jmh;

import dev.rackcall.perf.harness.BenchFailure;
import dev.rackcall.perf.harness.MeasuredProcess;
import dev.rackcall.perf.result.Micro;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** The micro-benchmarks, by JMH with short settings: each in one JVM of its own. */
public final class JmhTarget {
    private static final String ALL = "dev\\.rackcall\\.perf\\.jmh\\..*";
    private static final int ITERATIONS = 5;
    private static final int WARM_UP_ITERATIONS = 3;
    private static final String ALLOCATED = "gc.alloc.rate.norm";

    private JmhTarget() {}

    /**
     * @param pattern which benchmarks, a regular expression over class and method names
     * @param nanos how long one is measured, in all iterations together
     */
    static List<Micro> run(String pattern, long nanos) {
        // The lock file in the temporary directory would keep out other users of the machine.
        System.setProperty("jmh.ignoreLock", "true");
        TimeValue iteration = TimeValue.nanoseconds(nanos / ITERATIONS);
        OptionsBuilder options = new OptionsBuilder();
        options.include(pattern)
                .forks(1)
                .warmupIterations(WARM_UP_ITERATIONS)
                .warmupTime(iteration)
                .measurementIterations(ITERATIONS)
                .measurementTime(iteration)
                .timeout(TimeValue.minutes(1))
                .addProfiler(GCProfiler.class)
                .jvmArgs(MeasuredProcess.measuringFlags().toArray(String[]::new))
                // JMH looks at the layout of its own classes, and the JVM would warn in each process.
                .jvmArgsAppend(
                        "--sun-misc-unsafe-memory-access=allow",
                        // What Chronicle Bytes needs.
                        "--add-exports=java.base/jdk.internal.ref=ALL-UNNAMED",
                        "--add-exports=java.base/sun.nio.ch=ALL-UNNAMED",
                        "--add-opens=java.base/java.lang.reflect=ALL-UNNAMED")
                .shouldFailOnError(true)
                .verbosity(VerboseMode.SILENT);
        try {
            return results(new Runner(options.build()).run());
        } catch (RunnerException e) {
            throw new BenchFailure("JMH: " + e.getMessage());
        }
    }

    /** All benchmarks. */
    public static List<Micro> runAll(long nanos) {
        return run(ALL, nanos);
    }

    private static List<Micro> results(Collection<RunResult> runs) {
        List<Micro> results = new ArrayList<>();
        for (RunResult run : runs) {
            double nanos = TimeUnit.NANOSECONDS.convert(1, run.getParams().getTimeUnit());
            results.add(new Micro(
                    name(run),
                    round(run.getPrimaryResult().getScore() * nanos),
                    round(run.getPrimaryResult().getScoreError() * nanos),
                    round(allocated(run))));
        }
        return results;
    }

    private static double allocated(RunResult run) {
        for (String key : run.getSecondaryResults().keySet()) {
            if (key.endsWith(ALLOCATED)) {
                return run.getSecondaryResults().get(key).getScore();
            }
        }
        throw new BenchFailure("JMH: its gc profiler reported no " + ALLOCATED + " for " + name(run));
    }

    private static String name(RunResult run) {
        String[] parts = run.getParams().getBenchmark().split("\\.");
        String parameters = run.getParams().getParamsKeys().stream()
                .map(key -> key + "=" + run.getParams().getParam(key))
                .collect(Collectors.joining(","));
        String name = parts[parts.length - 2] + "." + parts[parts.length - 1];
        return parameters.isEmpty() ? name : name + "[" + parameters + "]";
    }

    private static double round(double value) {
        return Math.round(value * 100) / 100.0;
    }
}
