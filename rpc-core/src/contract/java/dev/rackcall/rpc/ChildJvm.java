package dev.rackcall.rpc;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Another JVM with this one's flags and class path, for tests that need a peer to die, stop or misbehave. Killed when closed. */
public final class ChildJvm implements AutoCloseable {
    /** So long that it is a hang, also where many JVMs start on few processors; shorter than a test may take, so that it is this that says what hangs. */
    private static final Duration BOUND = Duration.ofSeconds(100);

    private final Process process;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    private ChildJvm(Process process) {
        this.process = process;
        Thread reader = new Thread(this::read, "child-output");
        reader.setDaemon(true);
        reader.start();
    }

    /** Starts {@code main}; the child should end when its standard input does. */
    public static ChildJvm start(Class<?> main, Path directory, String... arguments) {
        return start(List.of(), main, directory, arguments);
    }

    /** As {@link #start(Class, Path, String...)}, with more JVM flags. */
    public static ChildJvm start(List<String> flags, Class<?> main, Path directory, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElseThrow());
        for (String flag : ManagementFactory.getRuntimeMXBean().getInputArguments()) {
            if (!flag.startsWith("-javaagent") && !flag.startsWith("-agentlib")) {
                command.add(flag);
            }
        }
        // Without performance data, which a killed JVM leaves behind in the temporary directory.
        command.addAll(List.of(
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-XX:-UsePerfData",
                "-cp",
                System.getProperty("java.class.path")));
        command.addAll(flags);
        command.add(main.getName());
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT);
        builder.environment().put("RACKCALL_DIR", directory.toString());
        try {
            return new ChildJvm(builder.start());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void read() {
        try (BufferedReader reader = process.inputReader()) {
            reader.lines().forEach(lines::add);
        } catch (IOException | UncheckedIOException e) {
            lines.add("(output ended: " + e + ")");
        }
    }

    /** The next line that starts with {@code prefix}; fails after 100 seconds. */
    public String awaitLine(String prefix) throws InterruptedException {
        return awaitLine(prefix, BOUND);
    }

    /** As {@link #awaitLine(String)}, for at most {@code bound}. */
    public String awaitLine(String prefix, Duration bound) throws InterruptedException {
        long end = System.nanoTime() + bound.toNanos();
        StringBuilder seen = new StringBuilder();
        while (true) {
            String line = lines.poll(end - System.nanoTime(), TimeUnit.NANOSECONDS);
            if (line == null) {
                throw new AssertionError("child " + process.pid() + " (alive: " + process.isAlive()
                        + ") did not print '" + prefix + "'; it printed:\n" + seen);
            }
            if (line.startsWith(prefix)) {
                return line;
            }
            seen.append(line).append('\n');
        }
    }

    /** Writes a line to its standard input. */
    public void send(String line) throws IOException {
        process.outputWriter().write(line + "\n");
        process.outputWriter().flush();
    }

    /** Closes its standard input and waits until it has ended; returns its exit code. */
    public int end() throws IOException, InterruptedException {
        process.outputWriter().close();
        if (!process.waitFor(BOUND)) {
            throw new AssertionError(
                    "child " + process.pid() + " did not end within " + BOUND + " of the end of its input");
        }
        return process.exitValue();
    }

    public long pid() {
        return process.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** SIGKILL; returns when the process is gone. */
    public void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** SIGSTOP; returns once all its threads stand still. */
    public void pause() throws IOException, InterruptedException {
        signal("-STOP");
        Await.until("process " + process.pid() + " to stand still", this::isStopped);
    }

    private boolean isStopped() {
        try (Stream<Path> threads = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
            return threads.allMatch(thread -> {
                try {
                    String stat = Files.readString(thread.resolve("stat"));
                    // Behind the name, which is in parentheses and may hold anything.
                    return stat.charAt(stat.lastIndexOf(')') + 2) == 'T';
                } catch (IOException e) {
                    // Ended since it was listed, so that not all stand still yet.
                    return false;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** SIGCONT. */
    public void resume() throws IOException, InterruptedException {
        signal("-CONT");
    }

    private void signal(String signal) throws IOException, InterruptedException {
        int exit = new ProcessBuilder("kill", signal, Long.toString(process.pid()))
                .start()
                .waitFor();
        if (exit != 0) {
            throw new IOException("kill " + signal + " " + process.pid() + " ended with " + exit);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
