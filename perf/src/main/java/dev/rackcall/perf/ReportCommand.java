package dev.rackcall.perf;

import dev.rackcall.perf.harness.HostProgram;
import dev.rackcall.perf.harness.MeasuredProcess;
import dev.rackcall.perf.report.HtmlReport;
import dev.rackcall.perf.result.BenchOutcome;
import dev.rackcall.perf.result.BenchReport;
import dev.rackcall.perf.result.Change;
import dev.rackcall.perf.result.Machine;
import dev.rackcall.perf.result.RunComparison;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/**
 * {@code rackcall report}: measures all targets except jmh, ycsb and social in a limited time and writes a page and its JSON.
 * Standard output has the comparison with an earlier run; progress goes to standard error. The exit code is 0, 1 if a
 * measurement failed, or 2 if the arguments are wrong. A target that would exceed the time is left out or cut off, and
 * the page says so.
 */
@Command(
        name = "report",
        description =
                "Measures all targets except jmh, ycsb and social in at most 20 minutes and writes a page, beside the papers' numbers.",
        sortOptions = false)
public final class ReportCommand implements Callable<Integer> {
    static final int QUICK_SECONDS = 180;
    static final int FULL_SECONDS = 1200;
    /** For the page, and for what ends a step. */
    private static final int RESERVE_SECONDS = 5;

    @Spec
    private CommandSpec spec;

    @Option(names = "--quick", description = "Fewer subjects and shorter measurements: at most 3 minutes.")
    private boolean quick;

    @Option(
            names = "--against",
            paramLabel = "FILE",
            description = "JSON of an earlier report or bench: show what got worse and better beyond noise.")
    private Optional<Path> against = Optional.empty();

    @Option(
            names = "--out",
            paramLabel = "FILE",
            defaultValue = "rackcall-report.html",
            description = "The page (default: ${DEFAULT-VALUE}); its JSON is written beside it.")
    private Path out;

    @Override
    public Integer call() throws IOException {
        Path json = jsonBeside(out);
        // The earlier report may be the one that this run replaces.
        Optional<BenchOutcome> earlier = against.map(this::read);
        try {
            BenchCommand.requireWritable(out);
            BenchCommand.requireWritable(json);
        } catch (IllegalArgumentException e) {
            throw new CommandLine.ParameterException(spec.commandLine(), e.getMessage(), e);
        }
        PrintWriter progress = new PrintWriter(spec.commandLine().getErr(), true);
        long start = System.nanoTime();
        ReportRun run = new ReportRun(
                quick ? ReportStep.QUICK : ReportStep.FULL,
                (quick ? QUICK_SECONDS : FULL_SECONDS) - RESERVE_SECONDS,
                progress,
                System::nanoTime);
        List<String> arguments = spec.root().commandLine().getParseResult().originalArgs();
        BenchOutcome outcome = run.measure(Machine.describe(
                run.cores().pinned(), MeasuredProcess.measuringFlags(), "rackcall " + String.join(" ", arguments), 0));
        double took = Math.round((System.nanoTime() - start) / 1e8) / 10.0;
        BenchReport report =
                new BenchReport(commit(), took, outcome, earlier.map(each -> RunComparison.of(each, outcome)));
        Files.writeString(json, report.toJson());
        Files.writeString(out, HtmlReport.render(report));
        report.against().ifPresent(this::print);
        progress.printf("written after %.0f s: %s, %s%n", took, out, json);
        outcome.failures().forEach(failure -> progress.println("FAILED: " + failure));
        return outcome.isComplete() ? 0 : 1;
    }

    private static Path jsonBeside(Path page) {
        return page.resolveSibling(page.getFileName().toString().replaceFirst("\\.html?$", "") + ".json");
    }

    private BenchOutcome read(Path file) {
        try {
            return BenchOutcome.parse(Files.readString(file));
        } catch (IOException | IllegalArgumentException e) {
            throw new CommandLine.ParameterException(
                    spec.commandLine(),
                    "--against " + file + " is not the JSON of a report or bench (" + e.getMessage() + ")",
                    e);
        }
    }

    private void print(RunComparison comparison) {
        PrintWriter standardOutput = spec.commandLine().getOut();
        comparison.sentences().forEach(standardOutput::println);
        print(standardOutput, "worse", comparison.worse());
        print(standardOutput, "better", comparison.better());
        standardOutput.flush();
    }

    private static void print(PrintWriter standardOutput, String word, List<Change> changes) {
        changes.forEach(change -> standardOutput.println(word + ": " + change.sentence()));
    }

    /** The commit of the sources that this class was built in; {@code unknown} outside of a clone of Rackcall. */
    private static String commit() {
        try {
            Path classes = Path.of(ReportCommand.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            Path top = classes;
            while (top != null && !Files.exists(top.resolve(".git"))) {
                top = top.getParent();
            }
            Optional<Path> git = HostProgram.onPath("git");
            // An installed jar may lie in a repository of another project.
            if (git.isEmpty()
                    || top == null
                    || !Files.exists(top.resolve("perf").resolve("pom.xml"))) {
                return "unknown";
            }
            Process process = new ProcessBuilder(git.get().toString(), "describe", "--always", "--dirty", "--exclude=*")
                    .directory(top.toFile())
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            // Its one line fits into the pipe, so it ends before the line is read.
            if (!process.waitFor(10, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                return "unknown";
            }
            String commit = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).strip();
            return process.exitValue() == 0 ? commit : "unknown";
        } catch (Exception e) {
            if (e instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            return "unknown";
        }
    }
}
