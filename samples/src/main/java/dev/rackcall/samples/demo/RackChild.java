package dev.rackcall.samples.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/** A {@link RackHost} as its conductor sees it. One thread. */
final class RackChild implements AutoCloseable {
    private static final long PATIENCE_SECONDS = 120;
    private static final long QUIT_SECONDS = 10;

    private final String host;
    private final Process process;
    private final BlockingQueue<String> lines = new LinkedBlockingQueue<>();

    private RackChild(String host, Process process) {
        this.host = host;
        this.process = process;
        Thread.ofPlatform().daemon().name("answers of " + host).start(this::read);
    }

    /** Starts it; it is ready once {@link #awaitReady} has returned. */
    static RackChild start(RackMessages.Setup setup, Workplace workplace) {
        List<String> command = new ArrayList<>(ChildProcess.java());
        command.add(RackHost.class.getName());
        command.add(DemoMessages.MAPPER.writeValueAsString(setup));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            workplace.add(process);
            return new RackChild(setup.host(), process);
        } catch (IOException e) {
            throw new DemoException("a Java process cannot be started: " + e.getMessage(), e);
        }
    }

    private void read() {
        try (BufferedReader reader =
                new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
            for (String line = reader.readLine(); line != null; line = reader.readLine()) {
                lines.add(line);
            }
        } catch (IOException | UncheckedIOException e) {
            lines.add(RackMessages.FAILED + "its output broke: " + e);
            return;
        }
        lines.add(RackMessages.FAILED + "it has ended unexpectedly; what it said is above");
    }

    void awaitReady() {
        String line = next();
        if (!line.equals(RackMessages.READY)) {
            throw new DemoException(host + " is not ready: " + line);
        }
    }

    /** {@link RackMessages#LEAVE_MEMORY} or {@link RackMessages#TAKE_MEMORY}; samples that it has made before come first. */
    void order(String order) {
        try {
            process.outputWriter().write(order + "\n");
            process.outputWriter().flush();
        } catch (IOException e) {
            throw new DemoException(host + " takes no orders: " + e.getMessage(), e);
        }
    }

    /** Waits for its next sample. */
    RackMessages.Sample sample() {
        String line = next();
        if (!line.startsWith(RackMessages.SAMPLE)) {
            throw new DemoException(host + " does not search: " + line);
        }
        return DemoMessages.MAPPER.readValue(line.substring(RackMessages.SAMPLE.length()), RackMessages.Sample.class);
    }

    private String next() {
        try {
            String line = lines.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
            if (line == null) {
                throw new DemoException(
                        host + " has said nothing for " + PATIENCE_SECONDS + " s; is the machine overloaded?");
            }
            if (line.startsWith(RackMessages.FAILED)) {
                throw new DemoException(host + ": " + line.substring(RackMessages.FAILED.length()));
            }
            return line;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new DemoException("interrupted", e);
        }
    }

    /** Lets it end by itself; its {@link Workplace} ends it if it does not. */
    @Override
    public void close() {
        try {
            process.outputWriter().write(DemoMessages.Order.QUIT.name() + "\n");
            process.outputWriter().close();
            if (!process.waitFor(QUIT_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (IOException e) {
            process.destroyForcibly();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroyForcibly();
        }
    }
}
