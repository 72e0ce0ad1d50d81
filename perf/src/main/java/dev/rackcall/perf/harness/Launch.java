package dev.rackcall.perf.harness;

import java.util.List;

/**
 * How a measured JVM is started.
 *
 * @param wrapper what the command line has before {@code java}: a program that runs its arguments, with its options
 * @param heap flags of the heap
 * @param cpu the processor that its threads spin on, or {@link Cores#NO_CPU}
 */
public record Launch(List<String> wrapper, List<String> heap, int cpu) {
    /**
     * A heap whose pages are already allocated. Otherwise the kernel allocates them one by one during the measurement,
     * at 10 us a page in a virtual machine: a call with 80 bytes of garbage then has a p99 of 12 us, and one with 4 KiB
     * has that as its median.
     */
    static final List<String> TOUCHED_HEAP = List.of("-Xms512m", "-Xmx512m", "-XX:+AlwaysPreTouch");

    /** With a heap whose pages are already allocated, on that processor. */
    static Launch on(int cpu) {
        return new Launch(List.of(), TOUCHED_HEAP, cpu);
    }

    /** As users start a JVM: with the heap that it chooses, on the processors that the scheduler chooses. */
    public static Launch asUsersDo() {
        return new Launch(List.of(), List.of(), Cores.NO_CPU);
    }

    /** A copy with that wrapper. */
    public Launch within(List<String> program) {
        return new Launch(program, heap, cpu);
    }

    public Launch withHeap(List<String> flags) {
        return new Launch(wrapper, flags, cpu);
    }
}
