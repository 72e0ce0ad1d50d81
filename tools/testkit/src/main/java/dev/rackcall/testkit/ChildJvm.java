package dev.rackcall.testkit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * Another JVM with the class path and the flags of this one: a peer that answers, stops, misbehaves or dies.
 *
 * <p>Its standard output is read line by line; its standard error goes to this JVM's. It is killed when it is closed
 * and when this JVM ends. A main class that also returns at the end of its standard input leaves no process behind if
 * this JVM is killed.
 */
public final class ChildJvm implements AutoCloseable {
    /** Flags that apply only to this JVM. */
    private static final List<String> NOT_INHERITED =
            List.of("-javaagent:", "-agentlib:", "-Xrun", "-XX:AOT", "-XX:ArchiveClassesAtExit");

    /** The flags that make a short life cheap; an optimised child neither gets nor inherits them. */
    private static final List<String> CHEAP = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    private static final Set<Process> LIVE = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime()
                .addShutdownHook(Thread.ofPlatform().unstarted(() -> LIVE.forEach(Process::destroyForcibly)));
    }

    private final Process process;
    private final String main;
    /** Guarded by itself, as {@link #ended} is. */
    private final List<String> lines = new ArrayList<>();

    private boolean ended;
    /** How many lines have been awaited. */
    private int next;

    private ChildJvm(Process process, String main) {
        this.process = process;
        this.main = main;
        LIVE.removeIf(other -> !other.isAlive());
        LIVE.add(process);
        Thread.ofPlatform().daemon().name("output of " + main).start(this::read);
    }

    /** A command line; {@link #start} or {@link #run} run it. */
    public static final class Launch {
        private final String main;
        private final List<String> arguments;
        private final List<String> before = new ArrayList<>();
        private final List<String> flags = new ArrayList<>();
        private final Map<String, String> environment = new HashMap<>();
        private Optional<Path> folder = Optional.empty();
        private boolean optimised;
        private boolean mergesErrors;

        private Launch(String main, Object... arguments) {
            this.main = main;
            this.arguments = Arrays.stream(arguments).map(Object::toString).toList();
        }

        /** Adds flags, which override those of this JVM; also the class path. */
        public Launch flags(List<String> more) {
            flags.addAll(more);
            return this;
        }

        /** As {@link #flags(List)}. */
        public Launch flags(String... more) {
            return flags(List.of(more));
        }

        /** Runs with both compilers and the default collector, even if this JVM does not. */
        public Launch optimised() {
            optimised = true;
            return this;
        }

        /** Sets the working directory, where a crash leaves its report. */
        public Launch in(Path workingDirectory) {
            folder = Optional.of(workingDirectory);
            return this;
        }

        /** Sets the runtime folder, RACKCALL_DIR. */
        public Launch directory(Path runtime) {
            return environment("RACKCALL_DIR", runtime.toString());
        }

        /** Sets a variable of its environment. */
        public Launch environment(String name, String value) {
            environment.put(name, value);
            return this;
        }

        /** Puts a command before it that runs its own arguments, such as a shell. */
        public Launch behind(List<String> command) {
            before.addAll(command);
            return this;
        }

        /** Reads standard error as part of its output. */
        public Launch mergingErrors() {
            mergesErrors = true;
            return this;
        }

        /** The command line. */
        public List<String> command() {
            List<String> command = new ArrayList<>(before);
            command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
            command.addAll(inheritedFlags());
            if (optimised) {
                command.removeAll(CHEAP);
            } else {
                command.addAll(CHEAP);
            }
            // A killed JVM leaves its performance data behind.
            command.addAll(List.of("-Xshare:auto", "-XX:-UsePerfData", "-cp", System.getProperty("java.class.path")));
            command.addAll(flags);
            command.add(main);
            command.addAll(arguments);
            return command;
        }

        /** Starts it and does not wait. */
        public ChildJvm start() {
            ProcessBuilder builder = new ProcessBuilder(command());
            if (mergesErrors) {
                builder.redirectErrorStream(true);
            } else {
                builder.redirectError(ProcessBuilder.Redirect.INHERIT);
            }
            folder.ifPresent(path -> builder.directory(path.toFile()));
            builder.environment().putAll(environment);
            try {
                return new ChildJvm(builder.start(), main);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }

        /** Runs it until it ends by itself; reads standard error as part of its output. */
        public Result run() {
            try (ChildJvm child = mergingErrors().start()) {
                int exitCode = child.awaitEnd();
                return new Result(exitCode, child.output());
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }

    /**
     * How a child ended.
     *
     * @param exitCode as a shell reports it
     * @param output everything that it printed
     */
    public record Result(int exitCode, String output) {}

    /** The flags of this JVM that a child gets, too. */
    public static List<String> inheritedFlags() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> NOT_INHERITED.stream().noneMatch(flag::startsWith))
                .toList();
    }

    /** A child that runs {@code main} with these arguments, as text. */
    public static Launch of(Class<?> main, Object... arguments) {
        return new Launch(main.getName(), arguments);
    }

    /** Starts {@code main} with {@code directory} as its runtime folder. */
    public static ChildJvm start(Class<?> main, Path directory, Object... arguments) {
        return of(main, arguments).directory(directory).start();
    }

    private void read() {
        try (BufferedReader reader = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                synchronized (lines) {
                    lines.add(line);
                    lines.notifyAll();
                }
            }
        } catch (IOException e) {
            // The pipe broke: the process is gone or going.
        }
        synchronized (lines) {
            ended = true;
            lines.notifyAll();
        }
    }

    /** The next line; fails after {@link Await#BOUND} or when the child has ended. */
    public String awaitLine() throws InterruptedException {
        return awaitLine("");
    }

    /**
     * The next line that starts with {@code prefix}, past others; fails after {@link Await#BOUND} or when the child has
     * ended.
     */
    public String awaitLine(String prefix) throws InterruptedException {
        return awaitLine(prefix, Await.BOUND);
    }

    /** As {@link #awaitLine(String)}, for at most {@code bound}. */
    public String awaitLine(String prefix, Duration bound) throws InterruptedException {
        long end = System.nanoTime() + bound.toNanos();
        synchronized (lines) {
            int first = next;
            while (true) {
                while (next < lines.size()) {
                    String line = lines.get(next++);
                    if (line.startsWith(prefix)) {
                        return line;
                    }
                }
                long left = end - System.nanoTime();
                if (ended || left <= 0) {
                    throw new AssertionError(this + (ended ? " ended before it printed '" : " did not print '") + prefix
                            + "' within " + bound + "; it printed:\n"
                            + String.join("\n", lines.subList(first, lines.size())));
                }
                TimeUnit.NANOSECONDS.timedWait(lines, left);
            }
        }
    }

    /** What it has printed up to now. */
    public String output() {
        synchronized (lines) {
            StringBuilder all = new StringBuilder();
            lines.forEach(line -> all.append(line).append('\n'));
            return all.toString();
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
        return awaitEnd();
    }

    /** Waits until it has ended and its output is read; fails after {@link Await#BOUND}. Returns its exit code. */
    public int awaitEnd() throws InterruptedException {
        long end = System.nanoTime() + Await.BOUND.toNanos();
        if (!process.waitFor(Await.BOUND)) {
            throw new AssertionError(this + " did not end within " + Await.BOUND + "; it printed:\n" + output());
        }
        synchronized (lines) {
            // The child's own children may keep the pipe open.
            for (long left = end - System.nanoTime(); !ended && left > 0; left = end - System.nanoTime()) {
                TimeUnit.NANOSECONDS.timedWait(lines, left);
            }
        }
        return process.exitValue();
    }

    public long pid() {
        return process.pid();
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Sends SIGTERM; what it prints on its way out is still read. */
    public void terminate() {
        process.toHandle().destroy();
    }

    /** Sends SIGKILL; returns when the process is gone. */
    public void kill() throws InterruptedException {
        process.destroyForcibly();
        if (!process.waitFor(Await.BOUND)) {
            throw new AssertionError(this + " is killed and did not end within " + Await.BOUND);
        }
    }

    /** Sends SIGSTOP; returns when all its threads have stopped. */
    public void pause() throws IOException, InterruptedException {
        signal("-STOP");
        Await.until(this + " to stop", this::isStopped);
    }

    private boolean isStopped() {
        try (Stream<Path> threads = Files.list(Path.of("/proc/" + process.pid() + "/task"))) {
            return threads.allMatch(thread -> {
                try {
                    String stat = Files.readString(thread.resolve("stat"));
                    // The state follows the name, which is in parentheses and may hold anything.
                    return stat.charAt(stat.lastIndexOf(')') + 2) == 'T';
                } catch (IOException e) {
                    // This thread ended after it was listed; look at the others again.
                    return false;
                }
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Sends SIGCONT. */
    public void resume() throws IOException, InterruptedException {
        signal("-CONT");
    }

    private void signal(String signal) throws IOException, InterruptedException {
        int exit = new ProcessBuilder("kill", signal, Long.toString(process.pid()))
                .inheritIO()
                .start()
                .waitFor();
        if (exit != 0) {
            throw new IOException("kill " + signal + " " + process.pid() + " ended with " + exit);
        }
    }

    /** Kills it if it lives. */
    @Override
    public void close() {
        process.destroyForcibly();
        try {
            process.waitFor(10, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    @Override
    public String toString() {
        return "child " + process.pid() + " (" + main
                + (process.isAlive() ? ", alive)" : ", exit code " + process.exitValue() + ")");
    }
}
