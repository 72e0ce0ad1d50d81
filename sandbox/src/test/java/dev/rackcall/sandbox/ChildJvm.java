package dev.rackcall.sandbox;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Runs a main class in a JVM of its own, for what may end a JVM. */
public final class ChildJvm {
    private static final long BOUND_SECONDS = 150;

    private ChildJvm() {}

    /**
     * How it ended.
     *
     * @param exitCode as a shell would say
     * @param output standard output and error
     */
    public record Result(int exitCode, String output) {}

    /** Runs to the end. {@code folder} is its working directory, where a crash leaves its report. */
    public static Result run(Path folder, List<String> flags, Class<?> main, String... arguments) {
        try {
            Path output = Files.createTempFile(folder, "output", ".txt");
            Process process = new ProcessBuilder(command(flags, main, arguments))
                    .directory(folder.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(output.toFile())
                    .start();
            if (!process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError(main + " did not end in " + BOUND_SECONDS + " s: " + Files.readString(output));
            }
            return new Result(process.exitValue(), Files.readString(output));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** The command line of such a child. */
    public static List<String> command(List<String> flags, Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:+UseSerialGC",
                "-Xshare:auto",
                "-Xmx64m",
                "-XX:-CreateCoredumpOnCrash",
                "--enable-native-access=ALL-UNNAMED"));
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        return command;
    }
}
