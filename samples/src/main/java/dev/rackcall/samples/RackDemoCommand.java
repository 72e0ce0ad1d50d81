package dev.rackcall.samples;

import dev.rackcall.samples.demo.RackDemo;
import java.io.PrintWriter;
import java.net.URI;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** {@code rackcall demo rack}: three hosts in two racks, played by processes of this machine, and one name for the service. */
@Command(
        name = "rack",
        description = {
            "Runs the document store on three hosts in two racks and prints each client's server and route.",
            "",
            "Hosts are processes with runtime folders of their own. host-a serves; host-b, in the same rack, shares its memory; host-c, in another"
                    + " rack, reaches it over the network. Then the memory is taken away from host-b, and is given back."
        },
        footer = "Ends by itself and leaves nothing behind. Exit code 1 if something is left, or if a call failed.",
        sortOptions = false)
final class RackDemoCommand implements Callable<Integer> {
    private static final int MOST_DOCUMENTS = 1_000_000;
    private static final int MOST_SECONDS = 3600;

    @Spec
    private CommandSpec spec;

    @Option(
            names = "--directory",
            paramLabel = "URI",
            description = "Where servers are named: file:///a/folder, or zk://host:2181,host:2181 (default: a folder of"
                    + " the demo's own).")
    private Optional<URI> directory = Optional.empty();

    @Option(names = "--count", paramLabel = "N", description = "Documents in the store (default: ${DEFAULT-VALUE}).")
    private int count = 10_000;

    @Option(
            names = "--seconds",
            paramLabel = "SECONDS",
            description = "How long each of the three parts takes (default: ${DEFAULT-VALUE}).")
    private int seconds = 4;

    @Option(
            names = "--seed",
            paramLabel = "N",
            description = "Decides what is generated and searched for (default: ${DEFAULT-VALUE}).")
    private long seed = 1;

    @Override
    public Integer call() {
        check("--count", count, MOST_DOCUMENTS);
        check("--seconds", seconds, MOST_SECONDS);
        PrintWriter out = spec.commandLine().getOut();
        boolean good = RackDemo.run(new RackDemo.Plan(directory, count, Duration.ofSeconds(seconds), seed), out);
        out.flush();
        return good ? 0 : 1;
    }

    private void check(String option, int value, int most) {
        if (value < 1 || value > most) {
            throw new ParameterException(
                    spec.commandLine(), option + " must be between 1 and " + most + ", not " + value);
        }
    }
}
