package dev.rackcall.verbs.ffi;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.VarHandle;

/** Each thread's errno, as captured by the calls of this package. */
public final class CapturedErrno {
    private static final StructLayout LAYOUT = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = LAYOUT.varHandle(PathElement.groupElement("errno"));
    private static final ThreadLocal<MemorySegment> CURRENT =
            ThreadLocal.withInitial(() -> Arena.ofAuto().allocate(LAYOUT));

    private CapturedErrno() {}

    /** The memory that receives the calling thread's errno. */
    public static MemorySegment current() {
        return CURRENT.get();
    }

    /** errno of the calling thread's last failed call. */
    public static int errno() {
        return (int) ERRNO.get(CURRENT.get(), 0L);
    }
}
