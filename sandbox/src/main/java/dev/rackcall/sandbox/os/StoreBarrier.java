package dev.rackcall.sandbox.os;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Linkage;
import java.lang.invoke.MethodHandle;

/**
 * The JVM tells a thread of a refused store some time after it: compiled code goes on to the next place where the JVM may stop it. A return from
 * native code is such a place.
 */
public final class StoreBarrier {
    private static final MethodHandle GETPPID = Linkage.libc("getppid", JAVA_INT);

    private StoreBarrier() {}

    /**
     * Returns once all stores that this thread has made are known to have been allowed.
     *
     * @throws InternalError if one was refused
     */
    public static void now() {
        try {
            int ignored = (int) GETPPID.invokeExact(CallState.current().errnoSegment());
        } catch (Throwable t) {
            throw Linkage.impossible(t);
        }
    }
}
