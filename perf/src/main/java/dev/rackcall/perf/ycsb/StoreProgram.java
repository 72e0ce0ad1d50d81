package dev.rackcall.perf.ycsb;

import dev.rackcall.perf.harness.BenchFailure;
import dev.rackcall.perf.harness.MeasuredProcess;
import dev.rackcall.perf.harness.ServerSide;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A server of the distribution as a server side. */
record StoreProgram(Process process) implements ServerSide {
    private static final long BOUND_MILLIS = 30_000;
    private static final long STEP_MILLIS = 10;

    /** Starts it and waits until it has made {@code ready}. */
    static StoreProgram start(ProcessBuilder builder, Path ready) throws IOException {
        StoreProgram program =
                new StoreProgram(MeasuredProcess.launch(builder.redirectOutput(ProcessBuilder.Redirect.DISCARD)));
        try {
            for (long waited = 0; !Files.exists(ready); waited += STEP_MILLIS) {
                if (waited > BOUND_MILLIS || program.process.waitFor(STEP_MILLIS, TimeUnit.MILLISECONDS)) {
                    program.close();
                    throw new BenchFailure(builder.command().getFirst() + " did not start; its messages are above");
                }
            }
        } catch (InterruptedException e) {
            program.close();
            Thread.currentThread().interrupt();
            throw new BenchFailure("interrupted");
        }
        return program;
    }

    @Override
    public void close() {
        process.destroy();
        process.onExit()
                .completeOnTimeout(process, BOUND_MILLIS, TimeUnit.MILLISECONDS)
                .join();
        process.destroyForcibly();
    }
}
