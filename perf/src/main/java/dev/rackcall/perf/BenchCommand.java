package dev.rackcall.perf;

import dev.rackcall.perf.elastic.ElasticSides;
import dev.rackcall.perf.harness.BenchPlan;
import dev.rackcall.perf.harness.Cores;
import dev.rackcall.perf.rdma.BenchDevice;
import dev.rackcall.perf.report.HtmlReport;
import dev.rackcall.perf.report.TableReport;
import dev.rackcall.perf.result.BenchOutcome;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.verbs.VerbsException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import picocli.CommandLine.TypeConversionException;

/**
 * {@code rackcall bench}: measures Rackcall and its peers in one run. Standard output has the table, the JSON or the
 * HTML and nothing else; progress goes to standard error. The exit code is 0, 1 if a measurement failed or there was
 * none, or 2 if the arguments are wrong.
 */
@Command(
        name = "bench",
        description = "Measures Rackcall and its peers side by side.",
        sortOptions = false,
        footer = {
            "",
            "Targets: rtt (round trips), throughput (calls in flight), crowd (client processes that share the processors, beside other work and under limits),"
                    + " ycsb (a key-value service under YCSB, beside Redis, memcached and grpc-java),"
                    + " rare (calls with pauses), social (a social network of ten services), connect (new connections), elastic (many at the same time), idle (idle processes and connections),"
                    + " start (from JVM start to the first reply), isolation (snapshots, seals, sandboxes), metrics (what reporting a call costs), verbs (ping-pong over the software RDMA device),"
                    + " rdma (calls over the software RDMA device, and grpc-java over TCP), grpc (grpc-java over Rackcall and its peers),"
                    + " alock (locks for threads of one host and of others), objects (shared objects beside plain ones and JSON),"
                    + " jmh (micro-benchmarks). Without a target: a short run of rtt and throughput.",
        })
public final class BenchCommand implements Callable<Integer> {
    private static final long MILLI = 1_000_000;
    private static final List<Integer> ALL_DEPTHS = List.of(1, 2, 4, 8, 16, 32, 64);
    private static final List<Integer> SHORT_DEPTHS = List.of(1, 8, 64);

    enum Format {
        TABLE,
        JSON,
        HTML
    }

    @Spec
    private CommandSpec spec;

    @Parameters(arity = "0..*", paramLabel = "TARGET", description = "What to measure; see below.")
    private List<String> targets = new ArrayList<>();

    @Option(
            names = "--format",
            paramLabel = "FORMAT",
            converter = FormatWord.class,
            defaultValue = "table",
            description = "table, json or html (default: ${DEFAULT-VALUE}).")
    private Format format;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "Write there instead of to standard output; a missing folder is created.")
    private Optional<Path> out = Optional.empty();

    @Option(
            names = "--duration",
            paramLabel = "TIME",
            converter = Words.Time.class,
            description =
                    "Length of one measurement, with its unit: 2s or 500ms (default: 1s; isolation or ycsb alone 500ms, crowd"
                            + " or social alone 2s).")
    private Optional<Long> duration = Optional.empty();

    @Option(
            names = "--warm-up",
            paramLabel = "TIME",
            converter = Words.Time.class,
            description = "Call before measuring until the median settles, at most so long, with its unit"
                    + " (default: 3s; isolation alone 800ms, crowd alone 2s, ycsb alone 5s, social alone 180s)."
                    + " ycsb: until each process has made 20,000 transactions of a workload.")
    private Optional<Long> warmUp = Optional.empty();

    @Option(
            names = "--repeat",
            paramLabel = "N",
            description = "Measure so often, each time in fresh JVMs, and report medians (default: 3; crowd alone 5;"
                    + " isolation alone, or without target, 1).")
    private Optional<Integer> repeat = Optional.empty();

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "NAME",
            description =
                    "Only these subjects (jmh: no effect); those of crowd with -nice, -batch and -idle64 are measured only so."
                            + " The message about an unknown name lists the known ones; that about a name of another target names the target.")
    private List<String> only = new ArrayList<>();

    @Option(
            names = "--rate",
            paramLabel = "N",
            description = "rtt: N calls a second on a schedule instead of a closed loop.")
    private Optional<Double> rate = Optional.empty();

    @Option(
            names = "--in-flight",
            split = ",",
            paramLabel = "N",
            description = "throughput: calls in flight (default: 1,2,4,8,16,32,64; without target 1,8,64).")
    private List<Integer> depths = new ArrayList<>();

    @Option(
            names = "--device",
            paramLabel = "DEVICE",
            description =
                    "The RDMA device, for example mlx5_0 (default: the software device). For connect, elastic and alock; all hosts use it.")
    private Optional<String> device = Optional.empty();

    @Option(
            names = "--workers",
            paramLabel = "N",
            description = "elastic: so many workers start at the same time (default: 50).")
    private Optional<Integer> workers = Optional.empty();

    @Option(names = "--servers", paramLabel = "N", description = "elastic: each connects to so many (default: 20).")
    private Optional<Integer> servers = Optional.empty();

    @Override
    public Integer call() throws IOException {
        BenchSelection selection = validated();
        ElasticSides.use(workers, servers);
        try {
            BenchDevice.use(device);
            return bench(selection);
        } catch (VerbsException e) {
            throw new CommandLine.ParameterException(spec.commandLine(), e.getMessage(), e);
        } finally {
            BenchDevice.use(Optional.empty());
            ElasticSides.use(Optional.empty(), Optional.empty());
        }
    }

    private int bench(BenchSelection selection) throws IOException {
        PrintWriter progress = new PrintWriter(spec.commandLine().getErr(), true);
        List<String> arguments = spec.root().commandLine().getParseResult().originalArgs();
        BenchOutcome outcome =
                new BenchRun(selection, plan(selection, progress)).measure("rackcall " + String.join(" ", arguments));
        String text = switch (format) {
            case TABLE -> TableReport.render(outcome);
            case JSON -> outcome.toJson();
            case HTML -> HtmlReport.render(outcome);
        };
        if (out.isPresent()) {
            Files.writeString(out.get(), text);
            progress.println("written: " + out.get());
        } else {
            PrintWriter standardOutput = spec.commandLine().getOut();
            standardOutput.print(text);
            standardOutput.flush();
        }
        return outcome.isComplete() ? 0 : 1;
    }

    private BenchSelection validated() {
        require(repeat.orElse(1) >= 1, "--repeat " + repeat.orElse(1) + ": must be at least 1");
        require(rate.orElse(1.0) >= 1, "--rate " + rate.orElse(1.0) + ": must be at least 1 call a second");
        workers.ifPresent(count -> requireRange("--workers", count, 200));
        servers.ifPresent(count -> requireRange("--servers", count, 60));
        depths.forEach(depth -> requireRange("--in-flight", depth, 64));
        try {
            BenchSelection selection = new BenchSelection(targets(), only);
            out.ifPresent(BenchCommand::requireWritable);
            return selection;
        } catch (IllegalArgumentException | TypeConversionException e) {
            throw new CommandLine.ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    private void requireRange(String option, int value, int most) {
        require(value >= 1 && value <= most, option + " " + value + ": must be from 1 to " + most);
    }

    private void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new CommandLine.ParameterException(spec.commandLine(), otherwise);
        }
    }

    /**
     * Creates the report's folder if it is missing. Called before the first measurement, so that a wrong path costs no
     * run.
     */
    static void requireWritable(Path report) {
        if (Files.isDirectory(report)) {
            throw new IllegalArgumentException("--out " + report + ": is a folder; name a file in it");
        }
        Path folder = report.toAbsolutePath().getParent();
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw new IllegalArgumentException("--out " + report + ": its folder cannot be created (" + e + ")", e);
        }
        if (!Files.isWritable(Files.exists(report) ? report : folder)) {
            throw new IllegalArgumentException("--out " + report + ": this user may not write there");
        }
    }

    private List<BenchTarget> targets() {
        return targets.isEmpty()
                ? List.of(BenchTarget.RTT, BenchTarget.THROUGHPUT)
                : targets.stream()
                        .map(target -> Words.constant(BenchTarget.values(), target))
                        .toList();
    }

    private BenchPlan plan(BenchSelection selection, PrintWriter progress) {
        boolean shortRun = targets.isEmpty();
        Usual usual = Usual.of(selection.targets(), shortRun);
        return new BenchPlan(
                selection.subjects(),
                selection.locks(),
                duration.orElse(usual.durationMillis * MILLI),
                warmUp.orElse(usual.warmUpMillis * MILLI),
                repeat.orElse(usual.repeat),
                rate.map(OptionalDouble::of).orElse(OptionalDouble.empty()),
                !depths.isEmpty() ? depths : shortRun ? SHORT_DEPTHS : ALL_DEPTHS,
                Cores.choose(),
                progress);
    }

    /** What a run does without these options. */
    private record Usual(long durationMillis, long warmUpMillis, int repeat) {
        static Usual of(List<BenchTarget> targets, boolean shortRun) {
            if (targets.stream().allMatch(BenchTarget.ISOLATION::equals)) {
                // Some seventy subjects, most of them compared turn by turn: some five minutes on two processors.
                return new Usual(500, 800, 1);
            }
            if (targets.stream().allMatch(BenchTarget.CROWD::equals)) {
                // Some eighty results of up to 33 processes: some 25 minutes. The kernel gives a thread its processor
                // for some milliseconds at a time, so that each of many clients gets few turns in a shorter
                // measurement.
                return new Usual(2_000, 2_000, 5);
            }
            if (targets.stream().allMatch(BenchTarget.YCSB::equals)) {
                // Some seventy results, in three repeats: some ten minutes on two processors.
                return new Usual(500, 5_000, 3);
            }
            if (targets.stream().allMatch(BenchTarget.SOCIAL::equals)) {
                // Twenty-two JVMs compile for minutes if other work shares the processors.
                return new Usual(2_000, 180_000, 3);
            }
            return new Usual(1_000, 3_000, shortRun ? 1 : 3);
        }
    }

    static final class FormatWord implements ITypeConverter<Format> {
        @Override
        public Format convert(String text) {
            return Words.constant(Format.values(), text);
        }
    }
}
