package dev.rackcall.rpc.spi;

import java.util.Optional;

/**
 * A platform thread that serves calls and records the current one. Setting the current call is one plain field store,
 * where a {@link ThreadLocal} would cost a lookup per call. Other threads, such as virtual ones, use a {@code
 * ThreadLocal}.
 */
public final class CallThread extends Thread {
    private static final int NONE = -1;
    private static final ThreadLocal<ServerCall> ELSEWHERE = new ThreadLocal<>();

    /** Whether any other kind of thread has served a call; until then the {@code ThreadLocal} is not read. */
    private static volatile boolean servedElsewhere;

    /** The calls of the connection being served; stored only when the connection changes, see {@link #serve}. */
    private ServerCall[] calls;

    private int serving = NONE;

    public CallThread(Runnable body, String name) {
        super(body, name);
        setDaemon(true);
    }

    /**
     * Marks {@code candidates[index]} as the call that the current thread serves. The array rarely changes, so only the
     * index is stored: a reference store costs a garbage collector's barrier, often with a full fence, and an int store
     * does not.
     */
    public static void serve(ServerCall[] candidates, int index) {
        if (Thread.currentThread() instanceof CallThread thread) {
            if (thread.calls != candidates) {
                thread.calls = candidates;
            }
            thread.serving = index;
        } else {
            servedElsewhere = true;
            ELSEWHERE.set(candidates[index]);
        }
    }

    /** Records that the current thread serves no call any more. */
    public static void serveNone() {
        if (Thread.currentThread() instanceof CallThread thread) {
            thread.serving = NONE;
        } else {
            ELSEWHERE.remove();
        }
    }

    /**
     * Clears the current thread's interrupt flag. A handler may have left it set, or another thread may have set it
     * after the handler had returned; the next caller's handler must not see it, and a thread that is interrupted
     * cannot sleep. Costs one load if the flag is clear.
     */
    public static void forgetInterrupt() {
        Thread.interrupted();
    }

    /** The call that the current thread serves. */
    public static Optional<ServerCall> currentCall() {
        return Optional.ofNullable(servedHere());
    }

    /** The deadline (nanoTime) that calls made by the current thread inherit; 0 if none. Allocates nothing. */
    public static long inheritedDeadline() {
        ServerCall call = servedHere();
        return call == null ? 0L : call.deadlineNanos();
    }

    private static ServerCall servedHere() {
        if (Thread.currentThread() instanceof CallThread thread) {
            return thread.serving == NONE ? null : thread.calls[thread.serving];
        }
        return servedElsewhere ? ELSEWHERE.get() : null;
    }
}
