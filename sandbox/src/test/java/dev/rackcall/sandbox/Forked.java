package dev.rackcall.sandbox;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.sandbox.os.Raw;
import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Linkage;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** A raw fork of the JVM, whose child tries one thing and exits. Only what was linked before may run there: it has one thread. */
final class Forked {
    private static final MethodHandle FORK = Linkage.libc("fork", JAVA_INT);
    private static final MethodHandle READ = Linkage.libc("read", JAVA_LONG, JAVA_INT, JAVA_LONG, JAVA_LONG);
    private static final MethodHandle EXIT = Linkage.libc("_exit", JAVA_INT, JAVA_INT);

    private Forked() {}

    /** Lets a child store to an address, by reading a file into it; 0 if that worked there, -1 if not. */
    static long readsInto(long address, String file) {
        int fd = (int) Raw.call("open", Raw.string(file), 0);
        MemorySegment errno = CallState.current().errnoSegment();
        MemorySegment status = java.lang.foreign.Arena.global().allocate(JAVA_INT);
        try {
            // So that these handles are linked.
            long _ = (long) READ.invokeExact(errno, fd, address, 0L);
            int child = (int) FORK.invokeExact(errno);
            if (child == 0) {
                long read = (long) READ.invokeExact(errno, fd, address, 8L);
                int _ = (int) EXIT.invokeExact(errno, read == 8 ? 0 : 1);
            }
            Raw.call("waitpid", child, status.address(), 0);
        } catch (Throwable t) {
            throw new AssertionError(t);
        } finally {
            Raw.call("close", fd);
        }
        return status.get(JAVA_INT, 0) == 0 ? 0 : -1;
    }
}
