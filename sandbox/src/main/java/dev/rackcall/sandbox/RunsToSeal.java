package dev.rackcall.sandbox;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ScopeRuns;

/** The runs of a scope that is to be sealed, as an authority takes them. Reused; one thread at a time. */
final class RunsToSeal {
    private final ScopeRuns runs = new ScopeRuns();
    private long[] refs = new long[4];
    private long[] bytes = new long[4];

    void read(Arena arena, long firstRun) {
        runs.read(arena, firstRun);
        if (runs.count() > refs.length) {
            refs = new long[runs.count()];
            bytes = new long[runs.count()];
        }
        for (int i = 0; i < runs.count(); i++) {
            refs[i] = runs.ref(i);
            bytes[i] = runs.bytes(i);
        }
    }

    int count() {
        return runs.count();
    }

    /** First byte of each. */
    long[] refs() {
        return refs;
    }

    /** What is used of each. */
    long[] bytes() {
        return bytes;
    }

    long totalBytes() {
        return runs.totalBytes();
    }
}
