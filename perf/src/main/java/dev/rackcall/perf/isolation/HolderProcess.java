package dev.rackcall.perf.isolation;

import dev.rackcall.perf.harness.MeasuredProcess;
import dev.rackcall.sandbox.SealHolder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A process beside the measured ones that holds a client's seals. */
public final class HolderProcess implements AutoCloseable {
    private static final int END_SECONDS = 5;

    private final Process process;

    private HolderProcess(Process process) {
        this.process = process;
    }

    /** The process itself; it must not outlive its parent. Argument: the socket. */
    public static void main(String[] arguments) throws IOException {
        SealHolder holder = SealHolder.start(Path.of(arguments[0]));
        // The input has no content; its end says that the parent has ended.
        byte[] ignored = System.in.readAllBytes();
        assert ignored.length == 0;
        holder.close();
        Runtime.getRuntime().halt(0);
    }

    /** Where it serves. */
    public static Path socket(Path directory) {
        return directory.resolve("seals");
    }

    /** Starts one and waits until it serves. */
    public static HolderProcess start(Path directory) throws IOException {
        Path socket = socket(directory);
        HolderProcess holder = new HolderProcess(MeasuredProcess.startBeside(HolderProcess.class, socket.toString()));
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
        while (!Files.exists(socket)) {
            if (!holder.process.isAlive() || System.nanoTime() - end > 0) {
                holder.close();
                throw new IOException("the process that holds the seals does not serve at " + socket);
            }
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
        }
        return holder;
    }

    @Override
    public void close() {
        process.destroyForcibly();
        process.onExit()
                .completeOnTimeout(process, END_SECONDS, TimeUnit.SECONDS)
                .join();
    }
}
