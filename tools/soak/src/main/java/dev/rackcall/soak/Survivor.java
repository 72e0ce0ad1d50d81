package dev.rackcall.soak;

import dev.rackcall.testkit.ChildJvm;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A process that lives through the whole soak, as its parent has it. Thread-safe. */
final class Survivor implements AutoCloseable {
    private static final int LAST_LINES = 40;
    /** The exit code after SIGKILL. */
    private static final int KILLED = 128 + 9;

    private final SoakTransport transport;
    private final String role;
    private final ChildJvm process;
    private final Map<String, Long> counters = new HashMap<>();
    private Map<String, Long> baseline = Map.of();
    private Map<String, Long> latest = Map.of();

    Survivor(SoakTransport transport, String role, ChildJvm process) {
        this.transport = transport;
        this.role = role;
        this.process = process;
    }

    /** Waits until it is ready. */
    void awaitReady() throws InterruptedException {
        process.awaitLine("> ready");
    }

    SoakTransport transport() {
        return transport;
    }

    /** Sends a command and waits for the answer. */
    synchronized String ask(String command) throws InterruptedException {
        try {
            process.send(command);
            return process.awaitLine("> ");
        } catch (IOException | AssertionError e) {
            throw new AssertionError(this + " did not answer '" + command + "': " + e.getMessage(), e);
        }
    }

    /** Has it stop calling, and samples it. */
    synchronized Map<String, Long> calmSample() throws IOException, InterruptedException {
        Map<String, Long> reported = new HashMap<>();
        for (String word : ask("calm").substring(2).split(" ")) {
            String[] parts = word.split("=");
            (ProcessSample.REPORTED.contains(parts[0]) ? reported : counters).put(parts[0], Long.valueOf(parts[1]));
        }
        Map<String, Long> sample = ProcessSample.of(process.pid());
        sample.putAll(reported);
        if (transport.isPool()) {
            // Every page of the pool that an allocation ever touched; the pool's own account says what is used.
            sample.remove("shared KiB");
        }
        latest = sample;
        return sample;
    }

    /** How much a number has changed from the baseline to the latest sample. */
    synchronized long growth(String what) {
        return latest.getOrDefault(what, 0L) - baseline.getOrDefault(what, 0L);
    }

    /** Sets what later samples are compared with. */
    synchronized void remember(Map<String, Long> sample) {
        baseline = sample;
    }

    synchronized Map<String, Long> baseline() {
        return baseline;
    }

    /** A number that it reported last, or 0. */
    synchronized long counter(String name) {
        return counters.getOrDefault(name, 0L);
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Kills it. Returns its exit code and its last lines if it had ended by itself, and not well. */
    Optional<String> kill() throws InterruptedException {
        boolean lived = process.isAlive();
        process.kill();
        int exit = process.awaitEnd();
        // A process that was about to exit keeps its code.
        if (exit == 0 || (lived && exit == KILLED)) {
            return Optional.empty();
        }
        List<String> lines = process.output().lines().toList();
        return Optional.of(this + " ended with exit code " + exit + "; its last lines:\n"
                + String.join("\n", lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size())));
    }

    /** Ends it politely; fails if it does not end well. */
    synchronized void end() throws IOException, InterruptedException {
        int exit = process.end();
        if (exit != 0) {
            throw new AssertionError(this + " ended with exit code " + exit);
        }
    }

    @Override
    public void close() {
        process.close();
    }

    @Override
    public String toString() {
        return transport.word() + " " + role + " (process " + process.pid() + ")";
    }
}
