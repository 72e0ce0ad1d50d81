package dev.rackcall.samples.demo;

import dev.rackcall.samples.demo.DemoMessages.Done;
import dev.rackcall.samples.demo.DemoMessages.Order;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** The demo's view of a process that takes its orders: a JVM with this JVM's flags and class path. Used by one thread. */
final class ChildProcess implements AutoCloseable {
    /** How long a process may be silent. Emulated machines are slow. */
    private static final long SILENCE_SECONDS = 120;

    private static final long QUIT_SECONDS = 10;
    private static final String ENDED = "ended";

    /** Flags of this JVM that would collide in a second process. */
    private static final List<String> NOT_INHERITED = List.of(
            "-agentlib:", "-javaagent:", "-Xrun", "-XX:AOTCacheOutput", "-XX:AOTMode", "-XX:ArchiveClassesAtExit");

    private final String name;
    private final Workplace workplace;
    private final Process process;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private volatile long progress;

    private ChildProcess(String name, Workplace workplace, Process process) {
        this.name = name;
        this.workplace = workplace;
        this.process = process;
        Thread.ofPlatform().daemon().name("answers of " + name).start(this::readAnswers);
    }

    /**
     * Starts a JVM; it is ready once {@link #awaitReady} has returned.
     *
     * @param name for messages
     * @param program a class that runs {@link ChildOrders#obey}
     * @param setup its argument
     */
    static ChildProcess start(String name, Class<?> program, Record setup, Workplace workplace) {
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElse(System.getProperty("java.home") + "/bin/java"));
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> NOT_INHERITED.stream().noneMatch(flag::startsWith))
                .forEach(command::add);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        command.add(DemoMessages.MAPPER.writeValueAsString(setup));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            workplace.add(process);
            return new ChildProcess(name, workplace, process);
        } catch (IOException e) {
            throw new DemoException("a Java process cannot be started: " + e.getMessage(), e);
        }
    }

    void order(Order order) {
        progress = 0;
        try {
            process.outputWriter(StandardCharsets.UTF_8).write(order.name() + "\n");
            process.outputWriter(StandardCharsets.UTF_8).flush();
        } catch (IOException e) {
            // The process is dead; await() explains how it ended.
            answers.add(ENDED);
        }
    }

    /** How many documents or searches of the current order are done, as last reported. */
    long progress() {
        return progress;
    }

    /** Waits for the answer that a process gives when it is ready for orders. */
    void awaitReady(Runnable meanwhile) {
        await(Done.class, meanwhile);
    }

    /** Waits for the next answer; runs {@code meanwhile} ten times a second. */
    <T> T await(Class<T> type, Runnable meanwhile) {
        long silentSince = System.nanoTime();
        long known = progress;
        while (true) {
            String answer = poll();
            meanwhile.run();
            if (answer != null) {
                return decode(answer, type);
            }
            if (known != progress) {
                known = progress;
                silentSince = System.nanoTime();
            } else if (System.nanoTime() - silentSince > TimeUnit.SECONDS.toNanos(SILENCE_SECONDS)) {
                throw new DemoException(name + " has been silent for " + SILENCE_SECONDS
                        + " s; is the machine overloaded? Try a smaller --count or fewer --clients");
            }
        }
    }

    private String poll() {
        try {
            return answers.poll(100, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DemoException("interrupted", e);
        }
    }

    private <T> T decode(String answer, Class<T> type) {
        if (answer.startsWith(DemoMessages.OK)) {
            return DemoMessages.MAPPER.readValue(answer.substring(DemoMessages.OK.length()), type);
        }
        if (answer.startsWith(DemoMessages.FAILED)) {
            throw new DemoException(name + ": " + answer.substring(DemoMessages.FAILED.length()));
        }
        if (workplace.isClosing()) {
            park();
        }
        String exitCode = process.isAlive() ? "" : " with exit code " + process.exitValue();
        throw new DemoException(name + " has ended unexpectedly" + exitCode + "; its output is above");
    }

    /** On Ctrl-C the processes end first; this thread then waits silently for the end of the JVM. */
    private static void park() {
        try {
            Thread.currentThread().join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void readAnswers() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(DemoMessages.PROGRESS)) {
                    progress = Long.parseLong(line.substring(DemoMessages.PROGRESS.length()));
                } else {
                    answers.add(line);
                }
            }
        } catch (IOException | UncheckedIOException e) {
            // The pipe broke: the process has ended or is ending.
        } finally {
            answers.add(ENDED);
        }
    }

    /** Lets the process end by itself; its {@link Workplace} kills it if it does not. */
    @Override
    public void close() {
        order(Order.QUIT);
        try {
            if (!process.waitFor(QUIT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroyForcibly();
        }
    }
}
