package dev.rackcall.rpc.spi;

import java.util.Optional;

/**
 * A platform thread that serves calls and knows which one it is serving. Setting the current call is one plain field store, where a
 * {@link ThreadLocal} would cost a look-up on every call; other threads (virtual ones) do use a {@code ThreadLocal}.
 */
public final class CallThread extends Thread {
    private static final int NONE = -1;
    private static final ThreadLocal<ServerCall> ELSEWHERE = new ThreadLocal<>();

    /** Whether any other thread than a CallThread has ever served a call; until then nobody needs to look there. */
    private static volatile boolean servedElsewhere;

    /** The calls of the connection that is being served; stored only when the connection changes, see {@link #serve}. */
    private ServerCall[] calls;

    private int serving = NONE;

    public CallThread(Runnable body, String name) {
        super(body, name);
        setDaemon(true);
    }

    /**
     * Says that the current thread serves {@code candidates[index]} from now on. An array that stays the same and an index, because
     * storing a reference costs a garbage collector's barrier, often with a full fence, and storing an int does not.
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

    /** Says that the current thread serves no call any more. */
    public static void serveNone() {
        if (Thread.currentThread() instanceof CallThread thread) {
            thread.serving = NONE;
        } else {
            ELSEWHERE.remove();
        }
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
