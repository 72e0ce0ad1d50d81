package dev.rackcall.shm.pool;

import dev.rackcall.shm.os.BootId;
import dev.rackcall.shm.os.file.OpenFile;
import dev.rackcall.shm.os.file.SharedFile;
import java.nio.file.Path;

/**
 * One pool as two hosts have it, here in one process over a file in the machine's memory; the rack test has them in two
 * kernels.
 */
public final class TwoHosts implements AutoCloseable {
    private static final long BYTES = 256L << 20;

    /** {@code O_RDWR} of Linux. */
    private static final int READ_AND_WRITE = 2;

    /** Nameless: nothing stays of it if this process is killed. */
    private final SharedFile file = SharedFile.memfd("two-hosts", BYTES);

    private final Pool first = host(0);
    private final Pool second = host(1);

    private TwoHosts() {}

    public static TwoHosts create() {
        return new TwoHosts();
    }

    /** The pool as another process of that host has it. */
    public Pool host(int number) {
        return host(path(), number);
    }

    /** The pool at {@link #path} as that host has it. */
    public static Pool host(Path path, int number) {
        return Pool.ofHost(
                SharedFile.adopt(OpenFile.open(path, READ_AND_WRITE, 0)), number, new BootId(0xb007 + number));
    }

    /** A path to the pool's file, also for other processes, until it is closed. */
    public Path path() {
        return Path.of("/proc/" + ProcessHandle.current().pid() + "/fd/" + file.fd());
    }

    public Pool first() {
        return first;
    }

    public Pool second() {
        return second;
    }

    @Override
    public void close() {
        first.close();
        second.close();
        file.close();
    }
}
