package dev.rackcall.perf;

import dev.rackcall.verbs.VerbsException;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
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
 * progress goes to standard error. The exit code is 0, or 1 if something could not be measured.
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
    private static final int REPEAT = 3;

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
            defaultValue = "1s",
            converter = Seconds.class,
            description = "Length of one measurement, for example 2s or 500ms; a bare number means seconds (default:"
                    + " ${DEFAULT-VALUE}).")
    private long durationNanos;

    @Option(
            names = "--warm-up",
            paramLabel = "TIME",
            defaultValue = "3s",
            converter = Seconds.class,
            description = "Call before measuring until the median settles, so long at most; units as above (default:"
                    + " ${DEFAULT-VALUE}).")
    private long warmUpNanos;

    @Option(
            names = "--repeat",
            paramLabel = "N",
            description =
                    "Measure so often, each time in fresh JVMs, and report medians (default: 3; without target 1).")
    private Optional<Integer> repeat = Optional.empty();

    @Option(
            names = "--only",
            split = ",",
            paramLabel = "NAME",
            description = "Only these subjects (jmh: no effect); an unknown name says which there are.")
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
            paramLabel = "NAME",
            description =
                    "connect, elastic, alock: over this RDMA device, for example mlx5_0 (default: the software device). All hosts are behind it.")
    private Optional<String> device = Optional.empty();

    @Option(
            names = "--workers",
            paramLabel = "N",
            description = "elastic: so many workers begin at a time (default: 50).")
    private Optional<Integer> workers = Optional.empty();

    /** For picocli. */
    public BenchCommand() {}

    @Override
    public Integer call() throws IOException {
        validate();
        ElasticSubject.useWorkers(workers.map(OptionalInt::of).orElse(OptionalInt.empty()));
        try {
            BenchDevice.use(device);
            return bench();
        } catch (VerbsException e) {
            throw new CommandLine.ParameterException(spec.commandLine(), e.getMessage(), e);
        } finally {
            BenchDevice.useSoftware();
            ElasticSubject.useWorkers(OptionalInt.empty());
        }
    }

    private int bench() throws IOException {
        PrintWriter progress = new PrintWriter(spec.commandLine().getErr(), true);
        Outcome outcome = measure(progress);
        String text = render(outcome);
        if (out.isPresent()) {
            Files.writeString(out.get(), text);
            progress.println("written: " + out.get());
        } else {
            PrintWriter standardOutput = spec.commandLine().getOut();
            standardOutput.print(text);
            standardOutput.flush();
        }
        return outcome.failures().isEmpty() ? 0 : 1;
    }

    private void validate() {
        try {
            subjects();
            targets.forEach(target -> word(Target.values(), target));
        } catch (IllegalArgumentException | TypeConversionException e) {
            throw new CommandLine.ParameterException(spec.commandLine(), e.getMessage(), e);
        }
        require(repeat.orElse(1) >= 1, "--repeat " + repeat.orElse(1) + ": must be at least 1");
        require(rate.orElse(1.0) >= 1, "--rate " + rate.orElse(1.0) + ": must be at least 1 call a second");
        require(
                workers.orElse(1) >= 1 && workers.orElse(1) <= 200,
                "--workers " + workers.orElse(1) + ": must be from 1 to 200");
        for (int depth : depths) {
            require(depth >= 1 && depth <= 64, "--in-flight " + depth + ": must be from 1 to 64");
        }
        out.ifPresent(this::requireWritable);
    }

    /** Before the first measurement, not after the last. */
    private void requireWritable(Path file) {
        require(!Files.isDirectory(file), "--out " + file + ": is a folder; name a file in it");
        Path folder = file.toAbsolutePath().getParent();
        try {
            Files.createDirectories(folder);
        } catch (IOException e) {
            throw cannotWrite(file, e);
        }
        require(
                Files.isWritable(Files.exists(file) ? file : folder),
                "--out " + file + ": this user may not write there");
    }

    private CommandLine.ParameterException cannotWrite(Path file, IOException e) {
        return new CommandLine.ParameterException(
                spec.commandLine(),
                "--out " + file + ": its folder cannot be made (" + e.getClass().getSimpleName() + ": " + e.getMessage()
                        + ")",
                e);
    }

    /** Of the names that were asked for those that are no locks'. */
    private List<Subject> subjects() {
        List<String> calls =
                only.stream().filter(name -> !LockTarget.names().contains(name)).toList();
        return calls.isEmpty() && !only.isEmpty() ? List.of() : Subjects.only(calls);
    }

    private void require(boolean condition, String otherwise) {
        if (!condition) {
            throw new CommandLine.ParameterException(spec.commandLine(), otherwise);
        }
    }

    private Outcome measure(PrintWriter progress) {
        boolean shortRun = targets.isEmpty();
        List<Target> wanted = shortRun
                ? List.of(Target.RTT, Target.THROUGHPUT)
                : targets.stream().map(target -> word(Target.values(), target)).toList();
        Plan plan = new Plan(
                subjects(),
                only.stream().filter(LockTarget.names()::contains).toList(),
                durationNanos,
                warmUpNanos,
                repeat.orElse(shortRun ? 1 : REPEAT),
                rate.map(OptionalDouble::of).orElse(OptionalDouble.empty()),
                !depths.isEmpty() ? depths : shortRun ? SHORT_DEPTHS : ALL_DEPTHS,
                Cores.choose(),
                progress);
        Machine machine = Machine.describe(plan.cores(), commandText(), durationNanos / 1e9);
        Runner runner = new Runner(plan);
        List<Result> results = new ArrayList<>();
        List<Micro> micro = new ArrayList<>();
        try (Workspace workspace = Workspace.create()) {
            for (Target target : wanted) {
                if (target == Target.JMH) {
                    plan.say("jmh: all");
                    micro.addAll(JmhTarget.runAll(durationNanos));
                } else {
                    results.addAll(run(target, plan, workspace, runner));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return new Outcome(machine, results, micro, runner.failures());
    }

    private static List<Result> run(Target target, Plan plan, Workspace workspace, Runner runner) {
        return switch (target) {
            case RTT, ISOLATION, VERBS, RDMA ->
                runner.runGroups(
                        target,
                        RttTarget.groups(target, plan.subjects()),
                        new RttTarget(target, plan, workspace, runner)::measure);
            case THROUGHPUT -> runner.run(target, Subject::pipelines, new ThroughputTarget(plan, workspace)::measure);
            case CONNECT -> connect(plan, workspace, runner);
            case ELASTIC ->
                runner.runGroups(target, elastic(plan.subjects()), new ElasticTarget(plan, workspace, runner)::measure);
            case IDLE -> runner.run(target, Subject::takesManyConnections, new IdleTarget(plan, workspace)::measure);
            case START -> runner.run(target, Subject::takesManyConnections, new StartTarget(workspace)::measure);
            case ALOCK -> new LockTarget(plan).measure();
            case JMH -> throw new IllegalArgumentException("JMH brings processes of its own");
        };
    }

    /** All in one group, to take turns. */
    private static List<List<Subject>> elastic(List<Subject> subjects) {
        List<Subject> group = subjects.stream()
                .filter(subject -> subject.isOf(Target.ELASTIC))
                .toList();
        return group.isEmpty() ? List.of() : List.of(group);
    }

    /** Connections that calls go over, and those of the control plane, which are so short that they take turns. */
    private static List<Result> connect(Plan plan, Workspace workspace, Runner runner) {
        List<Result> results = new ArrayList<>(
                runner.run(Target.CONNECT, Subject::takesManyConnections, new ConnectTarget(plan, workspace)::measure));
        results.addAll(runner.runGroups(
                Target.CONNECT,
                RttTarget.groups(Target.CONNECT, plan.subjects()),
                new RttTarget(Target.CONNECT, plan, workspace, runner)::measure));
        return results;
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

    /** One of the constants, whatever the case in which it was written. */
    private static <E extends Enum<E>> E word(E[] constants, String text) {
        for (E constant : constants) {
            if (constant.name().equalsIgnoreCase(text)) {
                return constant;
            }
        }
        throw new TypeConversionException("'" + text + "' is none of "
                + Arrays.stream(constants)
                        .map(constant -> constant.name().toLowerCase(Locale.ROOT))
                        .collect(Collectors.joining(", ")));
    }

    static final class FormatWord implements ITypeConverter<Format> {
        @Override
        public Format convert(String text) {
            return word(Format.values(), text);
        }
    }

    /** {@code 2}, {@code 2s}, {@code 0.5s}, {@code 500ms}. */
    static final class Seconds implements ITypeConverter<Long> {
        @Override
        public Long convert(String text) {
            String lower = text.toLowerCase(Locale.ROOT);
            boolean millis = lower.endsWith("ms");
            String number = millis ? lower.substring(0, lower.length() - 2) : lower.replaceFirst("s$", "");
            try {
                double nanos = Double.parseDouble(number) * (millis ? 1e6 : 1e9);
                if (nanos >= 1e6 && nanos <= 3600e9) {
                    return (long) nanos;
                }
            } catch (NumberFormatException e) {
                // Falls through to the message below.
            }
            throw new TypeConversionException(
                    "'" + text + "' is no time from 1ms to 3600s; write for example 2s or 500ms");
        }
    }
}
