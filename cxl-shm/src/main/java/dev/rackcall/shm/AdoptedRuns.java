package dev.rackcall.shm;

import java.util.HashMap;
import java.util.Map;

/**
 * Who in this process has taken which run over. A run that was handed to another participant and has come back is the same run as before, of the same epoch and generation, so
 * that the page table cannot tell the scope that it was allocated for from the one that has it now. Guarded by itself, together with the step in the page table.
 */
final class AdoptedRuns {
    private record Run(long ref, int epoch) {}

    private final Map<Run, RunChain> chains = new HashMap<>();

    /** {@code chain} has just taken the run over. */
    void add(long ref, int epoch, RunChain chain) {
        chains.put(new Run(ref, epoch), chain);
    }

    /** Whether {@code chain}, which had the run once, may end it now: nobody else has taken it over since. Then it forgets what it knows of the run. */
    boolean mayEnd(long ref, int epoch, RunChain chain) {
        Run run = new Run(ref, epoch);
        boolean may = chains.getOrDefault(run, chain) == chain;
        if (may) {
            chains.remove(run);
        }
        return may;
    }
}
