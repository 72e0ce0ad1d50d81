package dev.rackcall.sandbox.os;

import static java.lang.foreign.ValueLayout.JAVA_LONG;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Linkage;
import java.lang.foreign.Arena;
import java.lang.foreign.MemoryLayout;
import java.util.Collections;

/** C functions as an attacker calls them: by name, with whatever numbers. */
public final class Raw {
    private Raw() {}

    /** The result, or -errno if it is -1. */
    public static long call(String function, long... arguments) {
        MemoryLayout[] layouts =
                Collections.nCopies(arguments.length, JAVA_LONG).toArray(MemoryLayout[]::new);
        Object[] all = new Object[arguments.length + 1];
        CallState state = CallState.current();
        all[0] = state.errnoSegment();
        for (int i = 0; i < arguments.length; i++) {
            all[i + 1] = arguments[i];
        }
        try {
            long result = (long) Linkage.libc(function, JAVA_LONG, layouts).invokeWithArguments(all);
            // Functions that return an int leave the upper half undefined.
            return result == -1 || (int) result == -1 ? -state.errno() : result;
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }

    /** Address of a C string that lives as long as the process. */
    public static long string(String text) {
        return Arena.global().allocateFrom(text).address();
    }
}
