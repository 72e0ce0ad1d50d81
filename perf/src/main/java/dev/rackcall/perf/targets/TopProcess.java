package dev.rackcall.perf.targets;

import dev.rackcall.perf.harness.BenchFailure;
import dev.rackcall.perf.harness.HostProgram;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * {@code rackcall top} as it draws on an invisible terminal made by {@code script}. It has the flags of this JVM. It
 * ends when it is closed, and when this JVM ends.
 */
final class TopProcess implements AutoCloseable {
    /** This module cannot use the command's classes; the command that runs it has them on its class path. */
    private static final String MAIN = "dev.rackcall.cli.RackcallCommand";

    private static final long BOUND_SECONDS = 30;
    private static final double TICKS_A_SECOND = 100;
    /** Fields 14 to 17 of {@code /proc/PID/stat}, counted from the state, which is field 3. */
    private static final int FIRST_TIME = 11;

    private static final int TIMES = 4;

    /** Moves to the upper left corner, where each page begins. */
    private static final String PAGE = "\u001b[H";

    private final Process script;
    private final Path screen;
    private final ProcessHandle top;
    private final Thread ending;

    private TopProcess(Process script, Path screen, ProcessHandle top) {
        this.script = script;
        this.screen = screen;
        this.top = top;
        this.ending = Thread.ofPlatform().unstarted(top::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(ending);
    }

    /** Whether this process knows the command, and this host has the program that it needs. */
    static boolean isPossible() {
        return HostProgram.onPath("script").isPresent()
                && TopProcess.class.getClassLoader().getResource(MAIN.replace('.', '/') + ".class") != null;
    }

    /**
     * Starts it, and does not wait until it draws.
     *
     * @param screen the file that gets everything that it draws
     */
    static TopProcess start(Path screen) throws IOException {
        List<String> words = new ArrayList<>();
        words.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        words.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        words.addAll(List.of("-cp", System.getProperty("java.class.path"), MAIN, "top"));
        String command = words.stream()
                .map(word -> "'" + word.replace("'", "'\\''") + "'")
                .collect(Collectors.joining(" ", "exec ", ""));
        ProcessBuilder builder = new ProcessBuilder("script", "--quiet", "--command", command, "/dev/null")
                .redirectOutput(screen.toFile())
                .redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put("SHELL", "/bin/sh");
        Process script = builder.start();
        return new TopProcess(script, screen, child(script));
    }

    private static ProcessHandle child(Process script) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(BOUND_SECONDS);
        while (script.isAlive() && System.nanoTime() < end) {
            Optional<ProcessHandle> child = script.children().findFirst();
            if (child.isPresent()) {
                return child.get();
            }
            Thread.onSpinWait();
        }
        script.destroyForcibly();
        throw new BenchFailure("script did not start rackcall top; its output is above");
    }

    /** Processor time in seconds of it and of the programs that it has run, to a hundredth. */
    double processorSeconds() throws IOException {
        String stat = Files.readString(Path.of("/proc", Long.toString(top.pid()), "stat"), StandardCharsets.ISO_8859_1);
        // The fields follow the name, which is in parentheses and may hold anything.
        String[] fields = stat.substring(stat.lastIndexOf(')') + 2).split(" ");
        long ticks = 0;
        for (int i = 0; i < TIMES; i++) {
            ticks += Long.parseLong(fields[FIRST_TIME + i]);
        }
        return ticks / TICKS_A_SECOND;
    }

    /** How much it has drawn so far. */
    long drawnBytes() throws IOException {
        return Files.size(screen);
    }

    /**
     * The requests per second of the connection between two processes as it last drew them.
     *
     * @param drawn where to begin in what it has drawn
     * @return empty if it has not drawn that connection since
     */
    OptionalDouble requestsPerSecond(long drawn, long server, long client) throws IOException {
        // A row: the two processes, the channel, the rate with commas.
        Pattern row = Pattern.compile("^ *" + server + " +" + client + " +\\S+ +([0-9,]+) ", Pattern.MULTILINE);
        return row.matcher(drawn().substring((int) drawn))
                .results()
                .mapToDouble(match -> Double.parseDouble(match.group(1).replace(",", "")))
                .reduce((_, last) -> last);
    }

    /** The last page, perhaps half drawn. */
    String lastPage() throws IOException {
        String drawn = drawn();
        return drawn.substring(Math.max(0, drawn.lastIndexOf(PAGE)));
    }

    private String drawn() throws IOException {
        // A character a byte, whatever is drawn.
        return Files.readString(screen, StandardCharsets.ISO_8859_1);
    }

    @Override
    public void close() {
        Runtime.getRuntime().removeShutdownHook(ending);
        top.destroy();
        try {
            if (!script.waitFor(BOUND_SECONDS, TimeUnit.SECONDS)) {
                top.destroyForcibly();
                script.destroyForcibly();
            }
        } catch (InterruptedException e) {
            top.destroyForcibly();
            script.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
