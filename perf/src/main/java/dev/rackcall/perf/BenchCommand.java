package dev.rackcall.perf;

import dev.rackcall.verbs.VerbsException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
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
 * {@code rackcall bench}: measures Rackcall and its peers in one run. Standard output has the table, the JSON or the HTML and nothing else;
 * progress goes to standard error. The exit code is 0, or 1 if something could not be measured or nothing was, or 2 if what was asked for makes no sense.
 */
@Command(
        name = "bench",
        description = "Measures Rackcall and its peers side by side.",
        sortOptions = false,
        footer = {
            "",
            "Targets: rtt (round trips), throughput (calls in flight), connect (new connections), elastic (many at a time), idle (idle processes and connections),"
                    + " start (from JVM start to the first reply), isolation (snapshots, seals, sandboxes), verbs (ping-pong over the software RDMA device),"
                    + " rdma (calls over the software RDMA device, and grpc-java over TCP), alock (locks for threads of one"
                    + " host and of others), jmh (micro-benchmarks). Without a target: a short run of rtt and throughput.",
        })
public final class BenchCommand implements Callable<Integer> {
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
            description = "Write there instead of to standard output; its folder is made if it is missing.")
    private Optional<Path> out = Optional.empty();

    @Option(
            names = "--duration",
            paramLabel = "TIME",
            converter = Words.Time.class,
            description = "Length of one measurement, with its unit: 2s or 500ms (default: 1s; isolation alone 500ms).")
    private Optional<Long> duration = Optional.empty();

    @Option(
            names = "--warm-up",
            paramLabel = "TIME",
            converter = Words.Time.class,
            description = "Call before measuring until the median settles, so long at most, with its unit"
                    + " (default: 3s; isolation alone 800ms).")
    private Optional<Long> warmUp = Optional.empty();

    @Option(
            names = "--repeat",
            paramLabel = "N",
            description =
                    "Measure so often, each time in fresh JVMs, and report medians (default: 3; isolation alone, or"
                            + " without target, 1).")
    private Optional<Integer> repeat = Optional.empty();

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "NAME",
            description =
                    "Only these subjects (jmh: no effect); an unknown name says which there are, one of another target which that is.")
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
                    "The RDMA device, for example mlx5_0 (default: the software device). For connect, elastic and alock; all hosts are behind it.")
    private Optional<String> device = Optional.empty();

    @Option(
            names = "--workers",
            paramLabel = "N",
            description = "elastic: so many workers begin at a time (default: 50).")
    private Optional<Integer> workers = Optional.empty();

    @Option(names = "--servers", paramLabel = "N", description = "elastic: each connects to so many (default: 20).")
    private Optional<Integer> servers = Optional.empty();

    /** For picocli. */
    public BenchCommand() {}

    @Override
    public Integer call() throws IOException {
        Selection selection = validated();
        ElasticSubject.use(optional(workers), optional(servers));
        try {
            BenchDevice.use(device);
            return bench(selection);
        } catch (VerbsException e) {
            throw new CommandLine.ParameterException(spec.commandLine(), e.getMessage(), e);
        } finally {
            BenchDevice.useSoftware();
            ElasticSubject.use(OptionalInt.empty(), OptionalInt.empty());
        }
    }

    private static OptionalInt optional(Optional<Integer> value) {
        return value.map(OptionalInt::of).orElse(OptionalInt.empty());
    }

    private int bench(Selection selection) throws IOException {
        PrintWriter progress = new PrintWriter(spec.commandLine().getErr(), true);
        Outcome outcome = measure(selection, progress);
        String text = render(outcome);
        if (out.isPresent()) {
            new ReportFile(out.get()).write(text);
            progress.println("written: " + out.get());
        } else {
            PrintWriter standardOutput = spec.commandLine().getOut();
            standardOutput.print(text);
            standardOutput.flush();
        }
        return outcome.isComplete() ? 0 : 1;
    }

    private Selection validated() {
        require(repeat.orElse(1) >= 1, "--repeat " + repeat.orElse(1) + ": must be at least 1");
        require(rate.orElse(1.0) >= 1, "--rate " + rate.orElse(1.0) + ": must be at least 1 call a second");
        require(
                workers.orElse(1) >= 1 && workers.orElse(1) <= 200,
                "--workers " + workers.orElse(1) + ": must be from 1 to 200");
        require(
                servers.orElse(1) >= 1 && servers.orElse(1) <= 60,
                "--servers " + servers.orElse(1) + ": must be from 1 to 60");
        for (int depth : depths) {
            require(depth >= 1 && depth <= 64, "--in-flight " + depth + ": must be from 1 to 64");
        }
        try {
            Selection selection = new Selection(targets(), only);
            out.map(ReportFile::new).ifPresent(ReportFile::requireWritable);
            return selection;
        } catch (IllegalArgumentException | TypeConversionException e) {
            throw new CommandLine.ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    private List<Target> targets() {
        return targets.isEmpty()
                ? List.of(Target.RTT, Target.THROUGHPUT)
                : targets.stream()
                        .map(target -> Words.constant(Target.values(), target))
                        .toList();
    }

    private void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new CommandLine.ParameterException(spec.commandLine(), otherwise);
        }
    }

    private Outcome measure(Selection selection, PrintWriter progress) {
        boolean shortRun = targets.isEmpty();
        Effort usual = Effort.usualFor(shortRun ? List.of() : selection.targets());
        Plan plan = new Plan(
                selection.subjects(),
                selection.locks(),
                duration.orElse(usual.durationNanos()),
                warmUp.orElse(usual.warmUpNanos()),
                repeat.orElse(usual.repeat()),
                rate.map(OptionalDouble::of).orElse(OptionalDouble.empty()),
                !depths.isEmpty() ? depths : shortRun ? SHORT_DEPTHS : ALL_DEPTHS,
                Cores.choose(),
                progress);
        return new BenchRun(selection, plan).measure(commandText());
    }

    private String commandText() {
        List<String> arguments = spec.root().commandLine().getParseResult().originalArgs();
        return "rackcall " + String.join(" ", arguments);
    }

    private String render(Outcome outcome) {
        return switch (format) {
            case TABLE -> TableFormat.render(outcome);
            case JSON -> Json.PRETTY.writeValueAsString(outcome) + System.lineSeparator();
            case HTML -> HtmlReport.render(outcome);
        };
    }

    static final class FormatWord implements ITypeConverter<Format> {
        @Override
        public Format convert(String text) {
            return Words.constant(Format.values(), text);
        }
    }
}
