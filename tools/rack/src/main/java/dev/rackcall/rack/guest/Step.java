package dev.rackcall.rack.guest;

import java.util.Locale;

/** The steps of a rack test in their order, and the guests that take part. */
public enum Step {
    /**
     * Atomic operations of two kernels on one word: whether this QEMU keeps them atomic. If not, all other results are
     * meaningless.
     */
    ATOMICS("AB", "compare-and-set of two kernels on one word of /dev/dax0.0"),
    /** Scopes, Refs and the page allocator of one pool in two kernels. */
    MEMORY("AB", "one pool in two kernels: arenas, scopes, Refs, the allocator from both sides at once"),
    /** A device writes into memory that two kernels share. */
    RDMA("ABC", "C writes, reads and counts by RDMA in A's part of the pool, and B sees it there"),
    /** Calls between two kernels, through that pool only. */
    CALLS("AB", "calls from B to A through the pool alone: values, pointers, results, streams, futures, isolation"),
    /** Calls between hosts that share no memory. */
    REMOTE("AC", "calls from C to A by RDMA over rxe0: values, pointers, results, streams, futures"),
    /** The cost of a call over RDMA beside a message there and back. */
    PINGPONG("AC", "calls without arguments from C to A over rxe0 beside ibv_rc_pingpong between the same guests"),
    /** Locks that threads of two hosts use. */
    ALOCK("AC", "bench alock with a node in A and one in C, over rxe0: ALock beside locks by RDMA alone"),
    /** Hosts find each other by name, and choose a route. */
    DEMO(
            "ABC",
            "demo rack: A serves documents, B searches them through the pool and, when that is taken from it, by virtual queues over rxe0 as C does"),
    /** The host of a server and participant dies; the others continue. A's last step, because it kills A. */
    DEATH(
            "ABC",
            "guest A is killed under B's and C's calls, while it allocates; they end, B reclaims A's memory, and serves on"),
    /**
     * Protection keys of an emulated processor: tests that are skipped on most machines. From here on, steps wait for no
     * other guest and take minutes; they are dealt so that both guests are busy to the end.
     */
    KEYS("B", "the tests of protection keys, on a processor that has them"),
    /** The contract suite of verbs over a real device. */
    VERBS("B", "the verbs contract suite on rxe0"),
    /** The contract of calls over a real device, to the guest itself. */
    CONTRACT(
            "BC",
            "the contract suites of calls over rxe0, as in shared memory: in B by queue pairs, in C by virtual queues"),
    /** ALock over a real device, whose atomic operations are not atomic with the processor's. */
    LOCKS("B", "the tests of ALock, of its readers and of its bells over rxe0"),
    /** The cost of connections over a real device; a measurement of minutes that is not judged. */
    CONNECT("B", "bench connect over rxe0: virtual queues beside fresh queue pairs"),
    /** The control plane over a real device without dynamically connected queue pairs. */
    CONTROL("B", "the tests of agents, virtual queues and messages over rxe0");

    /** The property that tells a guest to do a long run. */
    public static final String LONG = "rackcall.rack.long";

    private final String guests;
    private final String what;

    Step(String guests, String what) {
        this.guests = guests;
        this.what = what;
    }

    /** Whether the guest takes part in it. */
    public boolean isFor(String guest) {
        return guests.contains(guest);
    }

    /** Whether it runs only if it is chosen, or in a long run. */
    public boolean isLong() {
        return this == CONNECT;
    }

    /** For people. */
    public String what() {
        return what;
    }

    /** Its name on command lines and consoles. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The step of that {@link #word}. */
    public static Step ofWord(String word) {
        for (Step step : values()) {
            if (step.word().equals(word)) {
                return step;
            }
        }
        throw new IllegalArgumentException(
                "there is no step " + word + "; there are " + java.util.Arrays.toString(values()));
    }
}
