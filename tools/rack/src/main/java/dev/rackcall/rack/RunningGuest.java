package dev.rackcall.rack;

import dev.rackcall.rack.guest.Console;
import dev.rackcall.rack.guest.Step;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/** One running guest. A thread of its own writes its console to a log and records the reports there. */
final class RunningGuest implements AutoCloseable {
    /** Enough for the report of a program's threads. */
    private static final int LAST_LINES = 200;

    private final GuestSpec spec;
    private final Process process;
    private final Path log;
    private final GuestStory story;
    private final Consumer<String> progress;
    private final long startedAt = System.nanoTime();
    private final Thread listener;
    private volatile boolean killed;

    private RunningGuest(GuestSpec spec, Process process, Path log, Consumer<String> progress) {
        this.spec = spec;
        this.process = process;
        this.log = log;
        this.progress = progress;
        this.story = new GuestStory(spec);
        this.listener = new Thread(this::listen, "rack-console-" + spec.name());
        listener.setDaemon(true);
    }

    static RunningGuest start(GuestSpec spec, List<String> command, Path logs, Consumer<String> progress)
            throws IOException {
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectInput(ProcessBuilder.Redirect.from(Path.of("/dev/null").toFile()))
                .start();
        RunningGuest guest = new RunningGuest(spec, process, logs.resolve(spec.name() + ".log"), progress);
        guest.listener.start();
        return guest;
    }

    private void listen() {
        try (BufferedReader console =
                        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
                Writer out = Files.newBufferedWriter(log)) {
            for (String line = console.readLine(); line != null; line = console.readLine()) {
                double at = (System.nanoTime() - startedAt) / 1e9;
                out.write("%8.2f %s%n".formatted(at, line));
                out.flush();
                Console.parse(line).ifPresent(what -> hear(what, at));
            }
        } catch (IOException | UncheckedIOException e) {
            // The console of a killed process may end like this, too.
            if (!killed) {
                progress.accept("guest " + spec.name() + ": its console ended: " + e.getMessage());
            }
        }
    }

    private synchronized void hear(Console what, double at) {
        story.tells(what, at);
        progress.accept("%6.1f s  %s: %s".formatted(at, spec.name(), what.line().substring("RACKCALL ".length())));
        if (what instanceof Console.Kill) {
            kill();
        }
    }

    private void kill() {
        killed = true;
        // Process.destroyForcibly() would close the console, even one that has lines to read.
        process.toHandle().destroyForcibly();
    }

    boolean isRunning() {
        return process.isAlive();
    }

    /** The last lines of its console, if a step began and did not end: they say where it was. */
    synchronized List<String> lastWords() throws IOException {
        if (!story.isCutOff()) {
            return List.of();
        }
        List<String> lines = Files.readAllLines(log);
        return lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size());
    }

    synchronized List<Summary.StepResult> results(Set<Step> planned) {
        return story.results(planned);
    }

    /** Kills it, if it still runs, and waits for the end of its console. */
    @Override
    public void close() {
        kill();
        try {
            listener.join(TimeUnit.SECONDS.toMillis(5));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
