package dev.rackcall.rack;

import dev.rackcall.rack.guest.Step;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;

/** The guests of one run and the hub between them. Closing it kills everything that still runs. */
final class Rack implements AutoCloseable {
    private static final long POLL_MILLIS = 50;
    private static final Duration HUB_BOUND = Duration.ofSeconds(20);

    private final QemuCommand commands;
    private final List<RunningGuest> guests = new ArrayList<>();
    private final Process hub;
    private final Thread shutdownHook = new Thread(this::leaveNothing, "rack-shutdown");

    private Rack(QemuCommand commands, Process hub) {
        this.commands = commands;
        this.hub = hub;
        Runtime.getRuntime().addShutdownHook(shutdownHook);
    }

    /** Starts them. */
    static Rack boot(List<GuestSpec> specs, QemuCommand commands, Path logs, Consumer<String> progress)
            throws IOException, NotRunException {
        Files.createDirectories(commands.sync());
        Process hub = new ProcessBuilder(commands.hub(specs))
                .redirectErrorStream(true)
                .redirectOutput(logs.resolve("hub.log").toFile())
                .start();
        Rack rack = new Rack(commands, hub);
        try {
            for (GuestSpec spec : specs) {
                rack.awaitHub(spec, logs);
                rack.guests.add(RunningGuest.start(spec, commands.guest(spec), logs, progress));
            }
            return rack;
        } catch (IOException | NotRunException | RuntimeException e) {
            rack.close();
            throw e;
        }
    }

    private void awaitHub(GuestSpec spec, Path logs) throws NotRunException {
        long end = System.nanoTime() + HUB_BOUND.toNanos();
        while (Files.notExists(spec.socket(commands.run()))) {
            if (!hub.isAlive() || System.nanoTime() - end > 0) {
                throw new NotRunException(
                        "QEMU's hub does not come up (QEMU 7.2 or newer is needed); see " + logs.resolve("hub.log"));
            }
            pause();
        }
    }

    /** Waits until all guests are off; false if some still run after {@code bound}. */
    boolean awaitEnd(Duration bound) {
        long end = System.nanoTime() + bound.toNanos();
        while (guests.stream().anyMatch(RunningGuest::isRunning)) {
            if (System.nanoTime() - end > 0 || Thread.currentThread().isInterrupted()) {
                return false;
            }
            pause();
        }
        return true;
    }

    private static void pause() {
        try {
            TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** By step, then by guest. */
    Summary results(Set<Step> planned) {
        List<Summary.StepResult> results = new ArrayList<>();
        for (Step step : planned) {
            guests.forEach(guest -> results.addAll(guest.results(Set.of(step))));
        }
        return new Summary(results);
    }

    /** The last lines of the consoles of guests that were cut off in a step; without such guests empty. */
    List<String> lastWords() throws IOException {
        List<String> lines = new ArrayList<>();
        for (RunningGuest guest : guests) {
            lines.addAll(guest.lastWords());
        }
        return lines;
    }

    private void kill() {
        guests.forEach(RunningGuest::close);
        // timeout(1) passes the signal on to the hub.
        hub.destroy();
    }

    /** Removes the folder, if there is one, with everything in it; follows no links. */
    static void deleteFolder(Path folder) throws IOException {
        if (Files.notExists(folder)) {
            return;
        }
        List<Path> deepestFirst;
        try (Stream<Path> all = Files.walk(folder)) {
            deepestFirst = all.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path path : deepestFirst) {
            Files.deleteIfExists(path);
        }
    }

    /** Cleans up when the command is interrupted. */
    private void leaveNothing() {
        kill();
        try {
            deleteFolder(commands.run());
        } catch (IOException e) {
            System.err.println("rackcall: " + commands.run() + " stays behind: " + e.getMessage());
        }
    }

    @Override
    public void close() {
        kill();
        try {
            if (!hub.waitFor(5, TimeUnit.SECONDS)) {
                hub.descendants().forEach(ProcessHandle::destroyForcibly);
                hub.destroyForcibly();
            }
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (IllegalStateException e) {
            // The JVM is ending, and the hook does the same.
            assert !hub.isAlive() || shutdownHook.isAlive();
        }
    }
}
