package dev.rackcall.perf.harness;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * A measured JVM, as its coordinator sees it. It ends when it is closed, when the coordinator ends (by a shutdown hook,
 * also on Ctrl-C), and by itself when the coordinator was killed.
 *
 * @param <S> the side that runs in it
 */
public final class MeasuredProcess<S> implements AutoCloseable {
    private static final Duration START_BOUND = Duration.ofMinutes(3);
    private static final Duration FIRST_CALL_BOUND = Duration.ofSeconds(60);
    private static final long QUIT_SECONDS = 5;
    private static final String ENDED = "ended";
    /** System properties with this prefix are options of the run, which all its JVMs get. */
    private static final String OPTION = "rackcall.bench.";
    /** Flags of this JVM that would distort measurements or collide in a second process. */
    private static final List<String> NOT_INHERITED = List.of(
            "-XX:TieredStopAtLevel",
            "-XX:AOT",
            "-XX:ArchiveClassesAtExit",
            "-XX:SharedArchiveFile",
            "-agentlib:",
            "-javaagent:",
            "-Xrun");

    private static final Set<Process> LIVE = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime()
                .addShutdownHook(Thread.ofPlatform().unstarted(() -> LIVE.forEach(Process::destroyForcibly)));
    }

    private final String what;
    private final Process process;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();

    private MeasuredProcess(String what, Process process) {
        this.what = what;
        this.process = process;
        Thread.ofPlatform().daemon().name("answers-" + what).start(this::readAnswers);
    }

    /** Starts the server side's JVM and waits until it answers calls. */
    public static MeasuredProcess<ServerSide> server(Subject subject, Path directory, int cpu) throws IOException {
        return server(subject, directory, Launch.on(cpu));
    }

    /** Starts the server side's JVM as {@code launch} describes and waits until it answers calls. */
    public static MeasuredProcess<ServerSide> server(Subject subject, Path directory, Launch launch)
            throws IOException {
        return start(MeasuredJvm.Role.SERVER, subject, directory, launch);
    }

    /** Starts the client side's JVM and waits until it is connected. */
    public static MeasuredProcess<MeasuredClient> client(Subject subject, Path directory, Launch launch)
            throws IOException {
        boolean both = subject.has(Subject.Trait.ONE_PROCESS);
        return start(both ? MeasuredJvm.Role.BOTH : MeasuredJvm.Role.CLIENT, subject, directory, launch);
    }

    /** Starts a client's JVM with all flags of this one; returns the nanoseconds until its first reply. */
    public static long firstCall(Subject subject, Path directory) throws IOException {
        List<String> flags = ManagementFactory.getRuntimeMXBean().getInputArguments();
        long start = System.nanoTime();
        try (MeasuredProcess<ClientSide> client =
                launch(MeasuredJvm.Role.FIRST_CALL, subject, directory, Launch.asUsersDo(), flags)) {
            // On Linux nanoTime() is the same clock in every process.
            return (long) Wire.decode(client.await(FIRST_CALL_BOUND, Wire.OK)) - start;
        }
    }

    private static <S> MeasuredProcess<S> start(MeasuredJvm.Role role, Subject subject, Path directory, Launch launch)
            throws IOException {
        List<String> flags = new ArrayList<>(launch.heap());
        // Last, so that a heap in the flags of this JVM overrides the usual one.
        flags.addAll(measuringFlags());
        MeasuredProcess<S> child = launch(role, subject, directory, launch, flags);
        try {
            child.await(START_BOUND, Wire.READY);
            return child;
        } catch (RuntimeException e) {
            child.close();
            throw e;
        }
    }

    private static <S> MeasuredProcess<S> launch(
            MeasuredJvm.Role role, Subject subject, Path directory, Launch launch, List<String> flags)
            throws IOException {
        List<String> all = new ArrayList<>(flags);
        System.getProperties().stringPropertyNames().stream()
                .filter(name -> name.startsWith(OPTION))
                .forEach(name -> all.add("-D" + name + "=" + System.getProperty(name)));
        all.addAll(subject.jvmFlags());
        ProcessBuilder builder =
                java(all, MeasuredJvm.class, role.name(), directory.toString(), Integer.toString(launch.cpu()));
        builder.command().addAll(0, launch.wrapper());
        MeasuredProcess<S> child = new MeasuredProcess<>(
                subject.name() + " " + (role == MeasuredJvm.Role.SERVER ? "server" : "client"), launch(builder));
        child.send(Wire.encode(subject.sides()));
        return child;
    }

    /** Starts a program that ends with this JVM. Its errors are shown. */
    public static Process launch(ProcessBuilder builder) throws IOException {
        Process process = builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
        LIVE.add(process);
        return process;
    }

    private static ProcessBuilder java(List<String> flags, Class<?> main, String... arguments) {
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElse(System.getProperty("java.home") + "/bin/java"));
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command);
    }

    /**
     * A JVM to run beside the measured ones: with their flags but not their heap. Only its errors are shown. It ends
     * with this JVM if {@link #startBeside} started it.
     */
    static ProcessBuilder beside(Class<?> main, String... arguments) {
        List<String> flags = new ArrayList<>(measuringFlags());
        flags.removeAll(Launch.TOUCHED_HEAP);
        return java(flags, main, arguments).redirectOutput(ProcessBuilder.Redirect.DISCARD);
    }

    /** Starts a JVM beside the measured ones. */
    public static Process startBeside(Class<?> main, String... arguments) throws IOException {
        return launch(beside(main, arguments));
    }

    /** The flags of this JVM that every measured JVM gets, too. */
    public static List<String> measuringFlags() {
        return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> NOT_INHERITED.stream().noneMatch(flag::startsWith))
                .toList();
    }

    long pid() {
        return process.pid();
    }

    /** Whether the JVM runs. */
    public boolean isAlive() {
        return process.isAlive();
    }

    /**
     * Nanoseconds that the JVM's live threads have run, from the scheduler's own count: {@code /proc/PID/stat} counts
     * in hundredths of a second, too coarse for an idle process.
     */
    public long processorNanos() throws IOException {
        long sum = 0;
        try (DirectoryStream<Path> threads = Files.newDirectoryStream(Path.of("/proc", Long.toString(pid()), "task"))) {
            for (Path thread : threads) {
                sum += processorNanos(thread);
            }
        }
        return sum;
    }

    /** User and system time of the process in hundredths of a second, including threads that have ended. */
    public Duration processorTime() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    private static long processorNanos(Path thread) throws IOException {
        try {
            String stat = Files.readString(thread.resolve("schedstat"));
            return Long.parseLong(stat.substring(0, stat.indexOf(' ')));
        } catch (NoSuchFileException e) {
            return 0; // the thread has ended
        }
    }

    /** Sends an order that takes no measurable time and waits for its answer. */
    public <T> T ask(Order<S, T> order) {
        return ask(0, order);
    }

    /**
     * Sends an order and waits for its answer, at most half a minute longer than twice the time that the order should
     * take.
     */
    @SuppressWarnings("unchecked") // the order's answer has the order's type
    public <T> T ask(long nanos, Order<S, T> order) {
        try {
            send(Wire.encode(order));
        } catch (IOException e) {
            throw new UncheckedIOException(what + " takes no more orders", e);
        }
        Duration bound = Duration.ofNanos(nanos).multipliedBy(2).plusSeconds(30);
        return (T) Wire.decode(await(bound, Wire.OK));
    }

    private void send(String line) throws IOException {
        BufferedWriter orders = process.outputWriter(StandardCharsets.UTF_8);
        orders.write(line);
        orders.newLine();
        orders.flush();
    }

    /** The rest of the next answer, which must begin with {@code expected}. */
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
            String code = process.isAlive() ? "unknown" : Integer.toString(process.exitValue());
            throw new BenchFailure(what + ": the JVM ended with exit code " + code + "; its messages are above");
        }
        if (!answer.startsWith(expected)) {
            throw new BenchFailure(what + ": " + answer);
        }
        return answer.substring(expected.length());
    }

    private void readAnswers() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            lines.lines().forEach(answers::add);
        } catch (IOException | UncheckedIOException e) {
            // The pipe broke: the process has ended or is about to.
        }
        answers.add(ENDED);
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
            send(Wire.QUIT);
        } catch (IOException e) {
            // It takes no more orders: it has ended or is about to end.
        }
        try {
            return process.waitFor(QUIT_SECONDS, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
