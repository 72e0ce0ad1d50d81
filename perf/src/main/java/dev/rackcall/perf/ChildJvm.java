package dev.rackcall.perf;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A measured JVM, as its coordinator sees it. It ends when it is closed, when the coordinator ends (by a shutdown hook, also on Ctrl-C), and
 * by itself when the coordinator was killed.
 */
final class ChildJvm implements AutoCloseable {
    private static final Duration START_BOUND = Duration.ofMinutes(3);
    private static final long QUIT_SECONDS = 5;
    private static final String ENDED = "ended";
    /** Flags of this JVM that would distort measurements or collide in a second process. */
    private static final List<String> NOT_INHERITED = List.of(
            "-XX:TieredStopAtLevel",
            "-XX:AOT",
            "-XX:ArchiveClassesAtExit",
            "-XX:SharedArchiveFile",
            "-agentlib:",
            "-javaagent:",
            "-Xrun");

    /**
     * A heap that has its memory. Otherwise all who allocate at all are measured while the kernel hands them pages one by one, at 10 us a page in a virtual machine: a call that
     * leaves 80 bytes behind then has a p99 of 12 us, one that leaves 4 KiB a median of as much.
     */
    private static final List<String> TOUCHED_HEAP = List.of("-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch");

    private static final Set<Process> LIVE = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime()
                .addShutdownHook(Thread.ofPlatform().unstarted(() -> LIVE.forEach(Process::destroyForcibly)));
    }

    private final String what;
    private final Process process;
    private final BufferedWriter orders;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

    private ChildJvm(String what, Process process) {
        this.what = what;
        this.process = process;
        this.orders = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        Thread.ofPlatform().daemon().name("answers-" + what).start(this::readAnswers);
    }

    /** Starts a JVM and waits until it is ready. */
    static ChildJvm start(ChildRole role, Subject subject, Path directory, int cpu) throws IOException {
        List<String> flags = new ArrayList<>(TOUCHED_HEAP);
        // Last, so that a heap which was asked for is the one that counts.
        flags.addAll(measuringFlags());
        ChildJvm child = launch(role, subject, directory, cpu, flags);
        try {
            child.await(START_BOUND, BenchChild.READY);
            return child;
        } catch (RuntimeException e) {
            child.close();
            throw e;
        }
    }

    /** Starts a JVM and does not wait. */
    static ChildJvm launch(ChildRole role, Subject subject, Path directory, int cpu, List<String> flags)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(java());
        command.addAll(flags);
        command.addAll(BenchDevice.flags());
        command.addAll(ElasticSubject.flags());
        command.addAll(subject.jvmFlags());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), BenchChild.class.getName()));
        command.addAll(List.of(role.name(), subject.name(), directory.toString(), Integer.toString(cpu)));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        LIVE.add(process);
        return new ChildJvm(subject.name() + " " + role.name().toLowerCase(Locale.ROOT), process);
    }

    /** Starts a JVM beside the measured ones: with their flags, but not their heap, and nothing of its output but errors. It ends with this one. */
    static Process beside(Class<?> main, String... arguments) throws IOException {
        Process process = new ProcessBuilder(commandBeside(main, arguments))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start();
        LIVE.add(process);
        return process;
    }

    static List<String> commandBeside(Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(java());
        measuringFlags().stream().filter(flag -> !TOUCHED_HEAP.contains(flag)).forEach(command::add);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        return command;
    }

    private static String java() {
        return ProcessHandle.current().info().command().orElse(System.getProperty("java.home") + "/bin/java");
    }

    /** The flags of this JVM that every measured JVM gets, too. */
    static List<String> measuringFlags() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> NOT_INHERITED.stream().noneMatch(flag::startsWith))
                .toList();
    }

    long pid() {
        return process.pid();
    }

    /** Sends an order and waits for its answer, up to what the order may take and half a minute more. */
    <T> T ask(Order order, Class<T> answerType) {
        try {
            orders.write(Json.LINE.writeValueAsString(order));
            orders.newLine();
            orders.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(what + " takes no orders any more", e);
        }
        Duration bound = Duration.ofNanos(order.nanos()).multipliedBy(2).plusSeconds(30);
        return Json.LINE.readValue(await(bound, BenchChild.OK), answerType);
    }

    /** The rest of the next answer, which has to begin with {@code expected}. */
    String await(Duration bound, String expected) {
        String answer;
        try {
            answer = answers.poll(bound.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new BenchFailure(what + ": interrupted");
        }
        if (answer == null) {
            throw new BenchFailure(what + ": no answer within " + bound.toSeconds() + " s");
        }
        if (answer.equals(ENDED)) {
            throw new BenchFailure(what + ": the JVM ended with exit code " + exitCode() + "; its messages are above");
        }
        if (!answer.startsWith(expected)) {
            throw new BenchFailure(what + ": " + answer);
        }
        return answer.substring(expected.length());
    }

    private String exitCode() {
        return process.isAlive() ? "unknown" : Integer.toString(process.exitValue());
    }

    private void readAnswers() {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            lines.lines().forEach(answers::add);
        } catch (IOException | UncheckedIOException e) {
            // The pipe broke: the process is gone or going.
        }
        answers.add(ENDED);
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Tells the process to quit and makes sure that it does. */
    @Override
    public void close() {
        if (!quits()) {
            process.destroyForcibly();
            process.onExit()
                    .completeOnTimeout(process, QUIT_SECONDS, TimeUnit.SECONDS)
                    .join();
        }
        LIVE.remove(process);
    }

    private boolean quits() {
        try {
            orders.write(Json.LINE.writeValueAsString(Order.of(Order.Action.QUIT)));
            orders.newLine();
            orders.flush();
        } catch (IOException e) {
            // It takes no orders because it is gone or about to go.
        }
        try {
            return process.waitFor(QUIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
