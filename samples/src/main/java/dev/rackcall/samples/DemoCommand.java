package dev.rackcall.samples;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.rackcall.samples.demo.Demo;
import dev.rackcall.samples.demo.DemoPlan;
import dev.rackcall.samples.demo.DemoProgress;
import dev.rackcall.samples.demo.Report;
import dev.rackcall.samples.demo.TextReport;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;
import tools.jackson.databind.MapperFeature;
import tools.jackson.databind.PropertyNamingStrategies;
import tools.jackson.databind.SerializationFeature;
import tools.jackson.databind.json.JsonMapper;

/** {@code rackcall demo}: the document store in several processes, by pointer, as JSON and by gRPC, side by side. */
@Command(
        name = "demo",
        description = {
            "Runs a document store by pointer, as JSON and by gRPC, and prints the three side by side.",
            "",
            "One server process and several clients, which hand it JSON documents, get some by number and search them: first through shared memory, then as JSON over"
                    + " a Unix domain socket, then as protobuf messages by grpc-java over one."
        },
        footer =
                "Ends by itself and leaves nothing behind. Exit code 1 if something is left, or if the results differ.",
        sortOptions = false,
        subcommands = {RackDemoCommand.class, SampleCommand.class})
public final class DemoCommand implements Callable<Integer> {
    private static final int MAX_CLIENTS = 64;
    private static final int MAX_BATCH = 10_000;

    /** How to print. */
    enum Format {
        TEXT,
        JSON
    }

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--docs",
            paramLabel = "FILE",
            description = "Documents, one JSON object a line; otherwise they are generated.")
    private Optional<Path> docs = Optional.empty();

    @Option(
            names = "--count",
            paramLabel = "N",
            description = "Documents to generate, NoBench style (default: ${DEFAULT-VALUE}).")
    private long count = 100_000;

    @Option(names = "--clients", paramLabel = "N", description = "Client processes (default: ${DEFAULT-VALUE}).")
    private int clients = 3;

    @Option(
            names = "--searches",
            paramLabel = "N",
            description = "Searches in all, and gets by number (default: ${DEFAULT-VALUE}).")
    private int searches = 30_000;

    @Option(
            names = "--batch",
            paramLabel = "N",
            description = "Documents that a client hands over in one call (default: ${DEFAULT-VALUE}).")
    private int batch = 32;

    @Option(
            names = "--seed",
            paramLabel = "N",
            description = "Decides what is generated and searched for (default: ${DEFAULT-VALUE}).")
    private long seed = 1;

    @Option(names = "--format", paramLabel = "text|json", description = "How to print (default: text).")
    private Format format = Format.TEXT;

    @Override
    public Integer call() {
        check("--count", count, 1, Integer.MAX_VALUE / 2);
        check("--clients", clients, 1, MAX_CLIENTS);
        check("--searches", searches, 0, 100_000_000);
        check("--batch", batch, 1, MAX_BATCH);
        docs.ifPresent(this::check);
        PrintWriter out = spec.commandLine().getOut();
        DemoPlan plan =
                new DemoPlan(new DemoPlan.Input(docs.map(Path::toAbsolutePath), count, seed), clients, searches, batch);
        Report report = Demo.run(plan, new DemoProgress(spec.commandLine().getErr()));
        if (format == Format.JSON) {
            out.println(mapper().writeValueAsString(report));
            out.flush();
        } else {
            TextReport.print(out, report);
        }
        return report.leftBehind().isEmpty() ? 0 : 1;
    }

    private void check(String option, long value, long least, long most) {
        if (value < least || value > most) {
            throw new ParameterException(
                    spec.commandLine(), option + " must be between " + least + " and " + most + ", not " + value);
        }
    }

    private void check(Path file) {
        String problem = !Files.exists(file)
                ? "is not there"
                : Files.isDirectory(file)
                        ? "is a folder"
                        : !Files.isReadable(file)
                                ? "cannot be read"
                                : !Files.isRegularFile(file) ? "can be read only once" : "";
        if (!problem.isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(), "--docs " + file + " " + problem + "; name a file with one JSON object a line");
        }
    }

    private static JsonMapper mapper() {
        return JsonMapper.builder()
                .propertyNamingStrategy(PropertyNamingStrategies.SNAKE_CASE)
                .changeDefaultPropertyInclusion(
                        inclusion -> inclusion.withValueInclusion(JsonInclude.Include.NON_ABSENT))
                .disable(MapperFeature.SORT_PROPERTIES_ALPHABETICALLY)
                .enable(SerializationFeature.INDENT_OUTPUT)
                .build();
    }
}
