package dev.rackcall.sandbox;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.sandbox.os.Raw;
import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Linkage;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/**
 * A raw fork of the JVM, whose child tries one thing and exits. The child has one thread and runs only code that was
 * linked before. If the JVM was just stopping its threads, the child waits forever for one that it does not have;
 * then it is killed and another child tries.
 */
final class Forked {
    private static final MethodHandle FORK = Linkage.libc("fork", JAVA_INT);
    private static final MethodHandle READ = Linkage.libc("read", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle EXIT = Linkage.libc("_exit", JAVA_INT, JAVA_INT);
    private static final MethodHandle CLOSE = Linkage.libc("close", JAVA_INT, JAVA_INT);

    private static final int TRIES = 8;
    private static final long PATIENCE_NANOS = 3_000_000_000L;
    private static final int WNOHANG = 1;
    private static final int SIGKILL = 9;

    private Forked() {}

    /** Lets a child store to an address by reading a file into it; 0 if that worked, -1 if not. */
    static long readsInto(long address, String file) {
        for (int i = 0; i < TRIES; i++) {
            int status = childThatReadsInto(address, file);
            if (status != SIGKILL) {
                return status == 0 ? 0 : -1;
            }
        }
        throw new AssertionError("none of " + TRIES + " forked children came to its end");
    }

    private static int childThatReadsInto(long address, String file) {
        int fd = (int) Raw.call("open", Raw.string(file), 0);
        MemorySegment errno = CallState.current().errnoSegment();
        try {
            // Links these call sites.
            long _ = read(errno, fd, address, 0);
            int _ = call(CLOSE, errno, -1);
            int child = (int) FORK.invokeExact(errno);
            if (child == 0) {
                int _ = call(EXIT, errno, read(errno, fd, address, 8) == 8 ? 0 : 1);
            }
            return awaitEnd(child);
        } catch (Throwable t) {
            throw new AssertionError(t);
        } finally {
            Raw.call("close", fd);
        }
    }

    private static long read(MemorySegment errno, int fd, long address, long bytes) throws Throwable {
        return (long) READ.invokeExact(errno, fd, address, bytes);
    }

    private static int call(MethodHandle function, MemorySegment errno, int argument) throws Throwable {
        return (int) function.invokeExact(errno, argument);
    }

    /** The child's status from waitpid(2); SIGKILL if it had to be killed. */
    private static int awaitEnd(int child) {
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment status = arena.allocate(JAVA_INT);
            long end = System.nanoTime() + PATIENCE_NANOS;
            while (Raw.call("waitpid", child, status.address(), WNOHANG) == 0) {
                if (System.nanoTime() - end > 0) {
                    Raw.call("kill", child, SIGKILL);
                    Raw.call("waitpid", child, status.address(), 0);
                    break;
                }
                Thread.onSpinWait();
            }
            return status.get(JAVA_INT, 0);
        }
    }
}
