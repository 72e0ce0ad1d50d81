package dev.rackcall.perf;

import dev.rackcall.shm.os.Affinity;
import java.util.Arrays;

/**
 * Which processors the two sides of a subject spin on. Threads inherit the processor of the thread that starts them, so that pinning a JVM's
 * main thread before it starts anything leaves the JIT and the garbage collector where they were and takes along the rest.
 *
 * @param server processor of the server side, or {@link BenchChild#NO_CPU}
 * @param client processor of the client side, or {@link BenchChild#NO_CPU}
 */
record Cores(int server, int client) {
    static final Cores UNPINNED = new Cores(BenchChild.NO_CPU, BenchChild.NO_CPU);

    /** Two different processors if this process may use two; otherwise none is pinned. */
    static Cores choose() {
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

    static void pinCurrentThread(int cpu) {
        if (cpu != BenchChild.NO_CPU) {
            Affinity.pin(cpu);
        }
    }
}
