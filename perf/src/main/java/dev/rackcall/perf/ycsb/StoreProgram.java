package dev.rackcall.perf.ycsb;

import dev.rackcall.perf.harness.BenchFailure;
import dev.rackcall.perf.harness.HostProgram;
import dev.rackcall.perf.harness.MeasuredProcess;
import dev.rackcall.perf.harness.ServerSide;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A server program from the distribution. It ends when it is closed and when this JVM ends. With {@code setpriv} from
 * util-linux, the kernel kills it even if this JVM is killed.
 */
record StoreProgram(Process process) implements ServerSide {
    private static final long BOUND_MILLIS = 30_000;
    private static final long STEP_MILLIS = 10;
    /** Shorter than the coordinator waits before it kills this JVM. */
    private static final long END_SECONDS = 2;

    private static final int LAST_LINES = 5;

    /**
     * Starts the program and waits until it has created {@code ready}. Its output goes to a log beside that file. The
     * calling thread must live as long as the program, because the kernel watches the thread.
     *
     * @throws BenchFailure with the program's last lines and exit code if it does not get ready
     */
    static StoreProgram start(ProcessBuilder builder, Path ready) throws IOException {
        String name = builder.command().getFirst();
        Path log = ready.resolveSibling(name + ".log");
        if (HostProgram.onPath("setpriv").isPresent()) {
            builder.command().addAll(0, List.of("setpriv", "--pdeathsig", "KILL", "--"));
        }
        StoreProgram program = new StoreProgram(MeasuredProcess.launch(builder.redirectOutput(log.toFile())));
        try {
            for (long waited = 0; !Files.exists(ready); waited += STEP_MILLIS) {
                if (program.process.waitFor(STEP_MILLIS, TimeUnit.MILLISECONDS)) {
                    throw notReady(name, "ended with exit code " + program.process.exitValue(), log);
                }
                if (waited > BOUND_MILLIS) {
                    program.close();
                    throw notReady(name, "was not ready within " + BOUND_MILLIS / 1000 + " s", log);
                }
            }
        } catch (InterruptedException e) {
            program.close();
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted");
        }
        return program;
    }

    private static BenchFailure notReady(String name, String what, Path log) throws IOException {
        List<String> lines = Files.readAllLines(log);
        List<String> last = lines.subList(Math.max(0, lines.size() - LAST_LINES), lines.size());
        return new BenchFailure(name + " " + what + "; the end of its output: " + String.join(" | ", last));
    }

    @Override
    public void close() {
        process.destroy();
        process.onExit()
                .completeOnTimeout(process, END_SECONDS, TimeUnit.SECONDS)
                .join();
        process.destroyForcibly();
    }
}
