package dev.rackcall.shm.pool;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Another process that uses a pool until it is killed. */
final class PoolUser implements AutoCloseable {
    private final Process process;

    private PoolUser(Process process) {
        this.process = process;
    }

    /** Starts it; returns once it has its memory. */
    static PoolUser start(String how, Path path) throws IOException {
        Process process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-XX:+UseSerialGC",
                        "--enable-native-access=ALL-UNNAMED",
                        "-cp",
                        System.getProperty("java.class.path"),
                        PoolUser.class.getName(),
                        how,
                        path.toString()))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        if (process.inputReader().readLine() == null) {
            process.destroyForcibly();
            throw new IOException("the other process ended early");
        }
        return new PoolUser(process);
    }

    /** SIGKILL, and waits for its end. */
    void kill() throws InterruptedException {
        process.destroyForcibly();
        if (!process.waitFor(10, TimeUnit.SECONDS)) {
            throw new AssertionError("a killed process did not end in 10 s");
        }
    }

    @Override
    public void close() throws InterruptedException {
        kill();
    }

    public static void main(String[] arguments) throws IOException {
        Path path = Path.of(arguments[1]);
        Pool pool = arguments[0].equals("file") ? Pool.file(path, 1 << 20) : Pool.open(path);
        pool.arena().newScope(50_000).allocate(40_000);
        System.out.println(pool.arena().participant());
        System.out.flush();
        // Until it is killed, or its parent ends.
        System.in.read();
    }
}
