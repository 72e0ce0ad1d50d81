package dev.rackcall.shm;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BooleanSupplier;

/**
 * Who in this process has taken which run over. A run that was handed to another participant and has come back is the same run as before, of the same epoch and generation, so
 * that the page table cannot tell the scope that it was allocated for from the one that has it now. Thread-safe.
 */
final class AdoptedRuns {
    private record Run(long ref, int epoch) {}

    private final Map<Run, RunChain> chains = new ConcurrentHashMap<>();

    /** Takes a run over by {@code step}, and notes for which chain; before the step, since whoever had it before may free it the moment it is this process's. */
    synchronized boolean take(long ref, int epoch, RunChain chain, BooleanSupplier step) {
        Run run = new Run(ref, epoch);
        RunChain former = chains.put(run, chain);
        boolean taken = step.getAsBoolean();
        if (!taken && former == null) {
            chains.remove(run);
        } else if (!taken) {
            chains.put(run, former);
        }
        return taken;
    }

    /** Whether somebody else than {@code chain} has taken the run over since. */
    boolean hasOther(long ref, int epoch, RunChain chain) {
        if (chains.isEmpty()) {
            return false;
        }
        RunChain now = chains.get(new Run(ref, epoch));
        return now != null && now != chain;
    }

    /** {@code chain} is about to free it. */
    void remove(long ref, int epoch, RunChain chain) {
        if (!chains.isEmpty()) {
            chains.remove(new Run(ref, epoch), chain);
        }
    }
}
