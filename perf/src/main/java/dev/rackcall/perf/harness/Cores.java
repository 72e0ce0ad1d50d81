package dev.rackcall.perf.harness;

import dev.rackcall.shm.os.Affinity;
import java.util.Arrays;
import java.util.List;

/**
 * The processors that the two sides of a subject spin on. Threads inherit the processor of the thread that starts them.
 * Pinning a JVM's main thread before it starts any other therefore pins them, and leaves the JIT and the garbage
 * collector where they were.
 *
 * @param server processor of the server side, or {@link #NO_CPU}
 * @param client processor of the client side, or {@link #NO_CPU}
 */
public record Cores(int server, int client) {
    static final int NO_CPU = -1;

    /** Neither side is pinned. */
    public static final Cores UNPINNED = new Cores(NO_CPU, NO_CPU);

    /** Two different processors if this process may use two; otherwise neither side is pinned. */
    public static Cores choose() {
        return choose(Affinity.available());
    }

    static Cores choose(int[] available) {
        if (available.length < 2) {
            return UNPINNED;
        }
        int[] sorted = Arrays.stream(available).sorted().toArray();
        // Not the first if there is a choice: most interrupts go there.
        return sorted.length == 2
                ? new Cores(sorted[0], sorted[1])
                : new Cores(sorted[sorted.length - 2], sorted[sorted.length - 1]);
    }

    /** The processors of server and client; empty if neither is pinned. */
    public List<Integer> pinned() {
        return equals(UNPINNED) ? List.of() : List.of(server, client);
    }
}
