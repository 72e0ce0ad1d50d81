package dev.rackcall.perf;

import dev.rackcall.sandbox.SealHolder;
import dev.rackcall.sandbox.os.UnsupportedFeatureException;
import dev.rackcall.sandbox.os.Userfault;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** A process beside the measured ones that holds a client's seals. */
final class HolderProcess implements AutoCloseable {
    private static final long START_NANOS = TimeUnit.SECONDS.toNanos(60);
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(5);
    private static final int END_SECONDS = 5;
    /** The first Linux with mseal(2), major and minor, which a client must have to give up its memory. */
    private static final int[] WITH_MSEAL = {6, 10};

    private final Process process;

    private HolderProcess(Process process) {
        this.process = process;
    }

    /** Whether this host has what enforced seals are made of. */
    static boolean isPossible() {
        String[] kernel = System.getProperty("os.version").split("[^0-9]+");
        try {
            int major = Integer.parseInt(kernel[0]);
            int minor = Integer.parseInt(kernel[1]);
            if (major < WITH_MSEAL[0] || (major == WITH_MSEAL[0] && minor < WITH_MSEAL[1])) {
                return false;
            }
            Userfault.open().close();
            return true;
        } catch (UnsupportedFeatureException | NumberFormatException | ArrayIndexOutOfBoundsException e) {
            return false;
        }
    }

    /** The process itself; it must not outlive its parent. Argument: the socket. */
    public static void main(String[] arguments) throws IOException {
        SealHolder holder = SealHolder.start(Path.of(arguments[0]));
        // Nobody says anything; the end of it is what counts.
        byte[] ignored = System.in.readAllBytes();
        assert ignored.length == 0;
        holder.close();
        Runtime.getRuntime().halt(0);
    }

    /** Where it serves. */
    static Path socket(Path directory) {
        return directory.resolve("seals");
    }

    /** Starts one and waits until it serves. */
    static HolderProcess start(Path directory) throws IOException {
        Path socket = socket(directory);
        HolderProcess holder = new HolderProcess(ChildJvm.beside(HolderProcess.class, socket.toString()));
        long end = System.nanoTime() + START_NANOS;
        while (!Files.exists(socket)) {
            if (!holder.process.isAlive() || System.nanoTime() - end > 0) {
                holder.close();
                throw new IOException("the holder of the seals has not begun to serve at " + socket);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
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
