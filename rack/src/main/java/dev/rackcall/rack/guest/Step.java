package dev.rackcall.rack.guest;

import java.util.Locale;

/** What is tested in a rack, in the order in which it is run, and in which guests. */
public enum Step {
    /** Atomic operations of two kernels on one word: whether this QEMU keeps them atomic, without which nothing else means anything. */
    ATOMICS("AB", "compare-and-set of two kernels on one word of /dev/dax0.0"),
    /** Scopes, Refs and the page allocator of one pool in two kernels. */
    MEMORY("AB", "one pool in two kernels: arenas, scopes, Refs, the allocator from both sides at once"),
    /** A device writes into memory that two kernels share. */
    RDMA("ABC", "C writes, reads and counts by RDMA in A's part of the pool, and B sees it there"),
    /** The contract suite of verbs over a real device. */
    VERBS("C", "the verbs contract suite on rxe0"),
    /** Calls between two kernels, through that pool only. */
    CALLS("AB", "calls from B to A through the pool alone: values, pointers, results, streams, futures, isolation"),
    /** Calls between hosts that share no memory. */
    REMOTE("AC", "calls from C to A by RDMA over rxe0: values, pointers, results, streams, futures"),
    /** Protection keys of an emulated processor: tests that are skipped on most machines. After what others wait for, since it takes two minutes. */
    KEYS("C", "the tests of protection keys, on a processor that has them"),
    /** The host of a server and participant is gone; the other goes on. Last: it ends a guest. */
    DEATH(
            "AB",
            "guest A is killed under B's calls, while it allocates; they end, B takes back what A had, and serves on");

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

    /** For people. */
    public String what() {
        return what;
    }

    /** As it is written on command lines and consoles. */
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
