package dev.rackcall.sandbox.os;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Linkage;
import java.lang.invoke.MethodHandle;

/**
 * Makes the JVM report refused stores now. Compiled code otherwise runs on to the next place where the JVM may stop it.
 * A return from native code is such a place.
 */
public final class StoreBarrier {
    private static final MethodHandle GETPPID = Linkage.libc("getppid");

    private StoreBarrier() {}

    /**
     * Returns once the JVM knows that all earlier stores of this thread were allowed.
     *
     * @throws InternalError if one was refused
     */
    public static void now() {
        Linkage.call(GETPPID, CallState.current().errnoSegment());
    }
}
