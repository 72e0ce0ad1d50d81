package dev.rackcall.rack;

import dev.rackcall.rack.guest.Step;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** {@code ./rackcall rack-test}, which the launcher starts with the class path of the guests' programs. */
@Command(
        name = "rack-test",
        sortOptions = false,
        mixinStandardHelpOptions = true,
        description =
                "Boots three virtual machines, A and B with shared memory, C with the network only, and runs the tests that need several kernels"
                        + " or a real RDMA device.",
        footer = {
            "Exit code 0: all steps passed; 1: a step failed, see the guests' logs in target/rack/; 2: wrong arguments; 3: it did not run; the last line"
                    + " has the reason."
        })
public final class RackTestCommand implements Callable<Integer> {
    private static final int GOOD = 0;
    private static final int FAILED = 1;
    private static final int NOT_RUN = 3;
    private static final List<String> GUESTS = List.of("A", "B", "C");
    private static final String SHARING = "AB";

    @Option(names = "--root", hidden = true, description = "The source tree; the launcher passes it.")
    private Path root;

    @Option(
            names = "--steps",
            split = ",",
            paramLabel = "STEP",
            description = "Only these: ${COMPLETION-CANDIDATES}. Without this option all but connect, with --long all.")
    private Set<Step> chosen = EnumSet.noneOf(Step.class);

    @Option(names = "--long", description = "The contract suite with as many calls as elsewhere, and the step connect.")
    private boolean isLong;

    @Option(
            names = "--seconds",
            paramLabel = "SECONDS",
            defaultValue = "2700",
            description = "How long the guests may run (default: ${DEFAULT-VALUE}).")
    private int seconds;

    @Option(names = "--install", description = "As root, first install missing packages with apt-get.")
    private boolean install;

    RackTestCommand() {}

    /** Runs the command and ends the JVM with its exit code. */
    public static void main(String[] args) {
        System.exit(commandLine().execute(args));
    }

    private static CommandLine commandLine() {
        CommandLine commandLine = new CommandLine(new RackTestCommand());
        commandLine.setCommandName("rackcall rack-test");
        commandLine.setCaseInsensitiveEnumValuesAllowed(true);
        commandLine.setParameterExceptionHandler((failure, arguments) -> {
            failure.getCommandLine().getErr().println(failure.getMessage());
            failure.getCommandLine().getErr().println("See rackcall rack-test --help");
            return CommandLine.ExitCode.USAGE;
        });
        return commandLine;
    }

    /** Programs and files that this machine lacks, each with its package; empty if it has all. */
    public static List<String> missing() {
        return HostTools.ofThisHost().missing();
    }

    @Override
    public Integer call() throws IOException {
        if (root == null) {
            say("rackcall: rack-test needs the source tree; in a clone of the repository run: ./rackcall rack-test");
            return FAILED;
        }
        try {
            return run();
        } catch (NotRunException e) {
            say("");
            say("RACK TEST DID NOT RUN, because " + e.getMessage());
            return NOT_RUN;
        }
    }

    private int run() throws NotRunException, IOException {
        requireTools();
        Set<Step> steps = steps(chosen, isLong);
        Path work = Files.createDirectories(root.resolve("target/rack"));
        GuestImage image = GuestImage.prepare(cache(), work, RackTestCommand::say);
        Path run = Files.createTempDirectory("rackcall-rack");
        try (DaxFile dax = DaxFile.create("rackcall-rack")) {
            List<GuestSpec> guests = guests(steps, dax);
            Path share = GuestShare.fill(work.resolve("share"), classPath(), flags(), guests, steps);
            Path jdk = Path.of(System.getProperty("java.home")).toRealPath();
            QemuCommand commands = new QemuCommand(
                    HostTools.program("qemu-system-x86_64"),
                    image.vmlinux(),
                    image.initramfs(),
                    share,
                    jdk,
                    run,
                    image.ticks(),
                    seconds);
            return judge(guests, commands, work, steps, image.kernel());
        } finally {
            Rack.deleteFolder(run);
        }
    }

    /** The chosen steps; without a choice, all except the long ones, or all if {@code isLong}. */
    static Set<Step> steps(Set<Step> chosen, boolean isLong) {
        Set<Step> steps = EnumSet.allOf(Step.class);
        if (chosen.isEmpty()) {
            steps.removeIf(step -> step.isLong() && !isLong);
        } else {
            steps.retainAll(chosen);
        }
        return steps;
    }

    private int judge(List<GuestSpec> guests, QemuCommand commands, Path logs, Set<Step> steps, String kernel)
            throws IOException, NotRunException {
        say("booting %d guests with Linux %s; their consoles: %s/[%s].log"
                .formatted(guests.size(), kernel, logs, String.join("", GUESTS)));
        Summary results;
        try (Rack rack = Rack.boot(guests, commands, logs, RackTestCommand::say)) {
            if (!rack.awaitEnd(Duration.ofSeconds(seconds))) {
                say("some guests still run after " + seconds + " s and are killed");
            }
            rack.close();
            results = rack.results(steps);
            rack.lastWords().forEach(RackTestCommand::say);
        }
        boolean good = results.isGood();
        System.out.print(results.table());
        steps.forEach(step -> say("%-9s = %s".formatted(step.word(), step.what())));
        say(good ? "RACK TEST OK" : "RACK TEST FAILED; the guests' consoles: " + logs);
        return good ? GOOD : FAILED;
    }

    private void requireTools() throws NotRunException {
        HostTools tools = HostTools.ofThisHost();
        if (install && !tools.missing().isEmpty()) {
            say("installing " + String.join(" ", tools.missingPackages()));
            Program.run(List.of("apt-get", "update", "-q", "-o", "Acquire::Retries=3"), root, line -> {});
            List<String> command = new ArrayList<>(List.of("env", "DEBIAN_FRONTEND=noninteractive"));
            command.addAll(List.of(
                    "apt-get",
                    "install",
                    "-q",
                    "-y",
                    "-o",
                    "Acquire::Retries=3",
                    "-o",
                    "DPkg::Lock::Timeout=300",
                    "--no-install-recommends"));
            command.addAll(tools.missingPackages());
            Program.run(command, root, line -> {});
        }
        HostTools.ofThisHost().require();
    }

    private static List<GuestSpec> guests(Set<Step> steps, DaxFile dax) {
        return GUESTS.stream()
                .filter(name -> steps.stream().anyMatch(step -> step.isFor(name)))
                .map(name -> new GuestSpec(name, SHARING.contains(name) ? Optional.of(dax) : Optional.empty()))
                .toList();
    }

    private static Path cache() {
        String cacheHome = System.getenv("XDG_CACHE_HOME");
        Path home = cacheHome == null || cacheHome.isEmpty()
                ? Path.of(System.getProperty("user.home"), ".cache")
                : Path.of(cacheHome);
        return home.resolve("rackcall/rack");
    }

    private static List<Path> classPath() {
        return Arrays.stream(System.getProperty("java.class.path").split(":", -1))
                .filter(entry -> !entry.isEmpty())
                .map(Path::of)
                .toList();
    }

    /** The project's flags, with which this JVM was started. */
    private List<String> flags() {
        List<String> flags =
                new ArrayList<>(ManagementFactory.getRuntimeMXBean().getInputArguments());
        flags.removeIf(flag -> flag.startsWith("-Xshare") || flag.startsWith("-XX:AOT"));
        if (isLong) {
            flags.add("-D" + Step.LONG + "=true");
        }
        return flags;
    }

    private static synchronized void say(String sentence) {
        System.out.println(sentence);
    }
}
