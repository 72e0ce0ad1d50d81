package dev.rackcall.cli;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * Checks what this user's processes may use: the JVM and its flags, cores, descriptors, a C compiler, the runtime
 * directory.
 */
final class ProcessChecks {
    private static final int NEEDED_JAVA = 25;
    private static final long FEW_DESCRIPTORS = 1024;

    private final HostFiles host;
    private final Map<String, String> environment;

    ProcessChecks(HostFiles host, Map<String, String> environment) {
        this.host = host;
        this.environment = environment;
    }

    List<Finding> findings() {
        return List.of(
                java(),
                cores(),
                descriptors(),
                compiler(),
                RuntimeFolderCheck.ofThisUser().finding());
    }

    private static Finding java() {
        String version = "Java " + Runtime.version();
        if (Runtime.version().feature() < NEEDED_JAVA) {
            return Finding.problem("java", version + " is too old; Rackcall needs Java " + NEEDED_JAVA + ".");
        }
        return ProcessChecks.class.getModule().isNativeAccessEnabled()
                ? Finding.ok("java", version + " with the flag that Rackcall needs.")
                : Finding.note(
                        "java",
                        version + " was started without --enable-native-access=ALL-UNNAMED and prints a warning;"
                                + " docs/jvm-flags.md says where to put it.");
    }

    private static Finding cores() {
        int cores = Runtime.getRuntime().availableProcessors();
        return cores > 1
                ? Finding.ok("cores", cores + " cores: a caller and a server can both spin.")
                : Finding.note(
                        "cores",
                        "One core: a caller and a server take turns, so a call costs two switches of threads.");
    }

    /** Each connection holds a socket and a memfd at both ends. */
    private Finding descriptors() {
        Optional<Long> limit = host.line("/proc/self/limits", "Max open files")
                .map(line -> line.split("\\s+")[0])
                .map(soft -> soft.matches("\\d{1,18}") ? Long.parseLong(soft) : Long.MAX_VALUE);
        if (limit.isEmpty()) {
            return Finding.note("descriptors", "The limit of open files is unknown; each connection takes two.");
        }
        String files = limit.get() == Long.MAX_VALUE ? "Any number of" : String.valueOf(limit.get());
        String sentence = files + " open files are allowed to a process; each connection takes two.";
        return limit.get() > FEW_DESCRIPTORS
                ? Finding.ok("descriptors", sentence)
                : Finding.note("descriptors", sentence + " For more: ulimit -n 65536, or LimitNOFILE= of systemd.");
    }

    private Finding compiler() {
        return Stream.of(environment.getOrDefault("PATH", "").split(":"))
                .filter(folder -> !folder.isEmpty())
                .map(folder -> Path.of(folder, "cc"))
                .filter(Files::isExecutable)
                .findFirst()
                .map(path -> Finding.ok("C compiler", path + " can build the optional guard."))
                .orElseGet(() -> Finding.note(
                        "C compiler",
                        "There is no cc on the PATH; only the optional guard needs one: sudo apt-get install gcc"));
    }
}
