package dev.rackcall.sandbox.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.shm.os.Linkage;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;

/** C mirror: protection of pages. Addresses are plain numbers, as a segment would hold its mapping's lifetime open during the call. */
final class LibcProtection {
    static final int PROT_READ = 1;
    static final int PROT_WRITE = 2;

    private static final MethodHandle MPROTECT = Linkage.libc("mprotect", JAVA_INT, JAVA_LONG, JAVA_LONG, JAVA_INT);

    private LibcProtection() {}

    static int mprotect(MemorySegment errno, long address, long bytes, int protection) {
        try {
            return (int) MPROTECT.invokeExact(errno, address, bytes, protection);
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }
}
