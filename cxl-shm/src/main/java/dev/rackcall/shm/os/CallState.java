package dev.rackcall.shm.os;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.lang.foreign.Arena;
import java.lang.foreign.Linker;
import java.lang.foreign.MemoryLayout.PathElement;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.StructLayout;
import java.lang.invoke.VarHandle;

/** A thread's errno and a few bytes for small C arguments, so that a downcall allocates nothing. */
public final class CallState {
    /** Size of {@link #scratch()}: room for a struct flock, a timespec, a word, a struct rusage. */
    public static final int SCRATCH_BYTES = 144;

    private static final StructLayout LAYOUT = Linker.Option.captureStateLayout();
    private static final VarHandle ERRNO = LAYOUT.varHandle(PathElement.groupElement("errno"));
    private static final ThreadLocal<CallState> CURRENT = ThreadLocal.withInitial(CallState::new);

    private final MemorySegment errno;
    private final MemorySegment scratch;

    private CallState() {
        // The collector frees it with its thread. An automatic arena also needs no atomic operation per downcall.
        Arena arena = Arena.ofAuto();
        errno = arena.allocate(LAYOUT);
        scratch = arena.allocate(SCRATCH_BYTES, JAVA_LONG.byteAlignment());
    }

    /** The calling thread's state. */
    public static CallState current() {
        return CURRENT.get();
    }

    /** Receives errno; the first argument of every handle of {@link Linkage}. */
    public MemorySegment errnoSegment() {
        return errno;
    }

    /** Memory for small C arguments; holds whatever the last call left there. */
    public MemorySegment scratch() {
        return scratch;
    }

    /** errno of this thread's last failed call. */
    public int errno() {
        return (int) ERRNO.get(errno, 0L);
    }

    /** The exception to throw after a failed call. */
    public OsException failure(String what) {
        return new OsException(what, errno());
    }
}
