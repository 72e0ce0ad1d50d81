package dev.rackcall.rack.guest;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * {@code ./rackcall agent} of a guest, over {@code rxe0}: other programs of the guest use it for calls over virtual
 * queues. A thread of its own copies its output to the console.
 */
final class AgentProcess implements AutoCloseable {
    /** By name: the command's module depends on this one. */
    private static final String COMMAND = "dev.rackcall.cli.RackcallCommand";
    /** Its last line before it waits for tenants. */
    private static final String SERVES = " serves in ";

    private static final Duration END = Duration.ofSeconds(20);

    private final Process process;
    private final Guest guest;
    private final CountDownLatch serves = new CountDownLatch(1);

    private AgentProcess(Process process, Guest guest) {
        this.process = process;
        this.guest = guest;
        Thread.ofPlatform().daemon().name("agent output").start(this::listen);
    }

    /**
     * Starts it, in the runtime folder that is the guest's default. It serves some time later ({@link #awaitServing}).
     *
     * @param host the guest's name in the control plane
     * @param meta control address of the meta server
     */
    static AgentProcess start(Guest guest, String host, String meta) throws IOException {
        GuestJvm agent = command("agent", "--host", host, "--device", RdmaEnd.DEVICE, "--meta", meta);
        return new AgentProcess(agent.process(), guest);
    }

    /** Starts {@code ./rackcall} with these arguments. */
    static GuestJvm command(String... arguments) throws IOException {
        return GuestJvm.start(List.of("-Xmx96m"), COMMAND, List.of(arguments));
    }

    private void listen() {
        try (BufferedReader output = process.inputReader()) {
            for (String line = output.readLine(); line != null; line = output.readLine()) {
                guest.note("agent: " + line);
                if (line.contains(SERVES)) {
                    serves.countDown();
                }
            }
        } catch (IOException | UncheckedIOException e) {
            guest.note("agent: its output broke: " + e);
        }
    }

    /** @throws IllegalStateException if it ends instead, or does not serve in time */
    void awaitServing() {
        Guest.await("the agent process does not serve", () -> {
            Guest.require(process.isAlive(), "the agent process has ended; see its output above");
            return serves.getCount() == 0;
        });
    }

    /** Ends it with SIGTERM. */
    @Override
    public void close() {
        // By its handle: Process.destroy() would close its output before its last lines are read.
        process.toHandle().destroy();
        try {
            if (!process.waitFor(END.toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            process.destroyForcibly();
        }
    }
}
