package dev.rackcall.samples.demo;

import dev.rackcall.samples.demo.DemoMessages.Done;
import dev.rackcall.samples.demo.DemoMessages.Order;
import dev.rackcall.samples.demo.DemoMessages.Setup;
import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A {@link DemoProcess} as its conductor sees it: a JVM with the flags and the class path of this one. One thread. */
final class ChildProcess implements AutoCloseable {
    /** How long a process may give no sign of life. */
    private static final long SILENCE_SECONDS = 60;

    private static final long QUIT_SECONDS = 5;
    private static final String ENDED = "ended";

    /** Flags of this JVM that would collide in a second process. */
    private static final List<String> NOT_INHERITED = List.of(
            "-agentlib:", "-javaagent:", "-Xrun", "-XX:AOTCacheOutput", "-XX:AOTMode", "-XX:ArchiveClassesAtExit");

    private final String name;
    private final Workplace workplace;
    private final Process process;
    private final BufferedWriter orders;
    private final BlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private volatile long progress;

    private ChildProcess(String name, Workplace workplace, Process process) {
        this.name = name;
        this.workplace = workplace;
        this.process = process;
        this.orders = new BufferedWriter(new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8));
        Thread.ofPlatform().daemon().name("answers of " + name).start(this::readAnswers);
    }

    /** Starts a JVM; it is ready once {@link #await} has returned. */
    static ChildProcess start(Setup setup, Workplace workplace) {
        List<String> command = new ArrayList<>(java());
        command.add(DemoProcess.class.getName());
        command.add(DemoMessages.MAPPER.writeValueAsString(setup));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            workplace.add(process);
            String role = setup.role().name().toLowerCase(Locale.ROOT);
            String number = setup.role() == DemoMessages.Role.CLIENT ? " " + (setup.client() + 1) : "";
            return new ChildProcess(role + number + " (" + setup.transport().title() + ")", workplace, process);
        } catch (IOException e) {
            throw new DemoException("a Java process cannot be started: " + e.getMessage(), e);
        }
    }

    /** The start of a command that runs a class as this JVM would. */
    static List<String> java() {
        List<String> command = new ArrayList<>();
        command.add(ProcessHandle.current().info().command().orElse(System.getProperty("java.home") + "/bin/java"));
        ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
                .filter(flag -> NOT_INHERITED.stream().noneMatch(flag::startsWith))
                .forEach(command::add);
        command.addAll(List.of("-cp", System.getProperty("java.class.path")));
        return command;
    }

    void order(Order order) {
        progress = 0;
        try {
            orders.write(order.name());
            orders.newLine();
            orders.flush();
        } catch (IOException e) {
            // Its death is noticed, and explained, by whoever waits for the answer.
            answers.add(ENDED);
        }
    }

    /** How many documents or searches of the present order are done, as far as is known. */
    long progress() {
        return progress;
    }

    /** Waits for the answer that a started process gives when it is ready. */
    void awaitReady(Runnable meanwhile) {
        await(Done.class, meanwhile);
    }

    /** Waits for the answer to the last order; runs {@code meanwhile} now and then. */
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
                throw new DemoException(name + " has given no sign of life for " + SILENCE_SECONDS
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
        throw new DemoException(name + " has ended unexpectedly" + exitCode() + "; what it said is above");
    }

    /** On Ctrl-C the processes end first; this thread has nothing to say then. */
    private static void park() {
        try {
            Thread.currentThread().join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private String exitCode() {
        return process.isAlive() ? "" : " with exit code " + process.exitValue();
    }

    private void readAnswers() {
        try (BufferedReader lines =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (line.startsWith(DemoMessages.PROGRESS)) {
                    progress = Long.parseLong(line.substring(DemoMessages.PROGRESS.length()));
                } else {
                    answers.add(line);
                }
            }
        } catch (IOException | UncheckedIOException e) {
            // The pipe broke: the process is gone or going.
            answers.add(ENDED);
            return;
        }
        answers.add(ENDED);
    }

    /** Lets the process end by itself; its {@link Workplace} ends it if it does not. */
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
