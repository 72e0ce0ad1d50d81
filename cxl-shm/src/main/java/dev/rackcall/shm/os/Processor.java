package dev.rackcall.shm.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.invoke.MethodHandle;

/** The processor that the calling thread runs on. */
public final class Processor {
    /** No processor has this number. */
    public static final int UNKNOWN = -1;

    private static final MethodHandle SCHED_GETCPU =
            Linkage.critical(Linker.nativeLinker().defaultLookup(), "sched_getcpu", FunctionDescriptor.of(JAVA_INT));

    private Processor() {}

    /** The number of the current processor. Takes some nanoseconds and no system call (sched_getcpu(3)). */
    public static int current() {
        try {
            return (int) SCHED_GETCPU.invokeExact();
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }
}
