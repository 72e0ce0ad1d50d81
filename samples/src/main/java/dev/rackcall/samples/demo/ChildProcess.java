package dev.rackcall.samples.demo;

import dev.rackcall.samples.demo.Child.Order;
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

/** A process that takes orders, see {@link Child}: a JVM with this JVM's flags and class path. Used by one thread. */
final class ChildProcess implements AutoCloseable {
    /** How long a process may be silent. Emulated machines are slow. */
    private static final long SILENCE_SECONDS = 300;

    private static final long QUIT_SECONDS = 10;
    private static final String ENDED = "ended";

    /**
     * Flags of this JVM that would collide in a second process, and its AOT cache, which was trained with calls by pointer
     * only.
     */
    private static final List<String> NOT_INHERITED =
            List.of("-agentlib:", "-javaagent:", "-Xrun", "-XX:AOT", "-XX:ArchiveClassesAtExit");

    private final String name;
    private final Workplace workplace;
    private final Process process;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private volatile long progress;

    /**
     * Starts a JVM; it is ready once {@link #awaitDone} has returned.
     *
     * @param name for messages
     * @param program a class that calls {@link Child#run}
     * @param flags of the JVM, beside this JVM's
     * @param setup its argument
     */
    ChildProcess(String name, Class<?> program, List<String> flags, Record setup, Workplace workplace) {
        this.name = name;
        this.workplace = workplace;
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElse(System.getProperty("java.home") + "/bin/java"));
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> NOT_INHERITED.stream().noneMatch(flag::startsWith))
                .forEach(command::add);
        command.addAll(flags);
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), program.getName()));
        command.add(Child.MAPPER.writeValueAsString(setup));
        try {
            process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
        } catch (IOException e) {
            throw new DemoException("a Java process cannot be started: " + e.getMessage(), e);
        }
        workplace.add(process);
        Thread.ofPlatform().daemon().name("answers of " + name).start(this::readAnswers);
    }

    private void readAnswers() {
        try (BufferedReader lines = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(Child.PROGRESS)) {
                    progress = Long.parseLong(line.substring(Child.PROGRESS.length()));
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

    void order(Order order) {
        progress = 0;
        try {
            process.outputWriter(StandardCharsets.UTF_8).write(order.name() + "\n");
            process.outputWriter(StandardCharsets.UTF_8).flush();
        } catch (IOException e) {
            answers.add(ENDED); // await() explains how the process ended
        }
    }

    /** How many documents or searches of the current order are done, as last reported. */
    long progress() {
        return progress;
    }

    /** Waits until the process is ready for orders, or has carried out an order without a result. */
    void awaitDone(Runnable meanwhile) {
        await(Boolean.class, meanwhile);
    }

    /** Waits for the next answer; runs {@code meanwhile} ten times a second. */
    <T> T await(Class<T> type, Runnable meanwhile) {
        long silentSince = System.nanoTime();
        long known = progress;
        while (System.nanoTime() - silentSince < TimeUnit.SECONDS.toNanos(SILENCE_SECONDS)) {
            String answer = poll();
            meanwhile.run();
            if (answer != null) {
                return decode(answer, type);
            }
            if (known != progress) {
                known = progress;
                silentSince = System.nanoTime();
            }
        }
        throw new DemoException(name + " has been silent for " + SILENCE_SECONDS
                + " s; is the machine overloaded? Try a smaller --count or fewer --clients");
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
        if (answer.startsWith(Child.OK)) {
            return Child.MAPPER.readValue(answer.substring(Child.OK.length()), type);
        }
        if (answer.startsWith(Child.FAILED)) {
            throw new DemoException(name + ": " + answer.substring(Child.FAILED.length()));
        }
        workplace.parkIfClosing();
        String exitCode = process.isAlive() ? "" : " with exit code " + process.exitValue();
        throw new DemoException(name + " has ended unexpectedly" + exitCode + "; its output is above");
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
