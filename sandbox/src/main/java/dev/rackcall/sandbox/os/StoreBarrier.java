package dev.rackcall.sandbox.os;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Linkage;
import java.lang.invoke.MethodHandle;

/**
 * Makes the JVM report refused stores now. Otherwise compiled code continues to the next safepoint. A return from
 * native code is a safepoint.
 */
public final class StoreBarrier {
    private static final MethodHandle GETPPID = Linkage.libc("getppid");

    private StoreBarrier() {}

    /**
     * Returns if all earlier stores of this thread were allowed.
     *
     * @throws InternalError if one was refused
     */
    public static void now() {
        Linkage.call(GETPPID, CallState.current().errnoSegment());
    }
}
