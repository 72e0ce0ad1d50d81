package dev.rackcall.rpc.shm.protocol;

import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * How often callers waited in a way that makes a system call, as the client counts it in the connection's header for
 * observers. The system call takes far longer than counting. A caller that only spun is not counted, since that would
 * lengthen its call. Calls and servers do not read these counters. Thread-safe.
 */
public final class CallWaits {
    /** Ways to wait. A wait counts once, when it has ended. */
    public enum Kind {
        /** A caller yielded its processor until its answer came, and did not sleep. */
        YIELDED,
        /** A caller slept until its answer came. */
        SLEPT,
        /** A caller waited for a free slot. */
        SLOT
    }

    private static final VarHandle COUNT = ValueLayout.JAVA_INT.varHandle();

    private CallWaits() {}

    /** Counts a wait. */
    public static void add(MemorySegment memory, Kind kind) {
        COUNT.getAndAdd(memory, at(kind), 1);
    }

    /** How many waits of that kind there were, modulo 2^32; any number if a peer overwrote it. */
    public static int count(MemorySegment memory, Kind kind) {
        return memory.get(ValueLayout.JAVA_INT, at(kind));
    }

    private static long at(Kind kind) {
        return ControlLayout.WAITS + (long) kind.ordinal() * Integer.BYTES;
    }
}
