package dev.rackcall.shm;

import dev.rackcall.shm.alloc.PageAllocator;
import dev.rackcall.shm.alloc.PageEntry;
import dev.rackcall.shm.alloc.PageRun;
import java.util.HashMap;
import java.util.Map;

/**
 * Frees, renews and takes over the runs of scopes. Runs can move between the participants of an arena. The page table
 * records which participant owns a run, with its epoch and generation. The table looks the same after a run was handed
 * to another participant and back. This class therefore records which scope of this process owns such a run now.
 * Thread-safe.
 */
final class HandedRuns {
    private record Run(long ref, int epoch) {}

    private final Arena arena;
    private final PageAllocator pages;
    /** Whether no other participant allocates in the arena, so that runs never move between participants. */
    private final boolean isAlone;

    /**
     * The chain that now owns each run that this process took over. Its monitor also guards the change in the page
     * table.
     */
    private final Map<Run, RunChain> takers = new HashMap<>();

    HandedRuns(Arena arena, PageAllocator pages, TableHome home) {
        this.arena = arena;
        this.pages = pages;
        this.isAlone = home == TableHome.PRIVATE;
    }

    /** The {@link PageEntry} of {@code holder}'s run at {@code ref}; 0 if {@code holder} has no run there. */
    long entryOf(long ref, int holder) {
        return pages.heldBy(holder, arena.headAt(ref), Ref.generation(ref));
    }

    /** The epoch of this process's run at {@code ref}. */
    int epochOf(long ref) {
        return PageEntry.epoch(entryOf(ref, arena.participant()));
    }

    /**
     * Makes this participant the owner of a run, which then survives the death of its former owner. Returns false if
     * the entry is no longer what {@link #entryOf} returned.
     */
    boolean takeOver(long ref, long entry, RunChain taker) {
        synchronized (takers) {
            boolean taken = pages.takeOver(arena.headAt(ref), entry);
            if (taken) {
                takers.put(new Run(ref, PageEntry.epoch(entry)), taker);
            }
            return taken;
        }
    }

    /**
     * Frees a run of {@code chain}, unless another chain took it over. A later run may have the same page and
     * generation, but not the same epoch.
     */
    void free(long ref, int epoch, RunChain chain) {
        if (isAlone) {
            freeNow(ref, epoch);
            return;
        }
        synchronized (takers) {
            if (isStillOf(chain, ref, epoch)) {
                freeNow(ref, epoch);
            }
        }
    }

    private void freeNow(long ref, int epoch) {
        pages.free(arena.headAt(ref), Ref.generation(ref), epoch);
    }

    /**
     * Makes Refs into a run of {@code chain} stale. Returns the Ref of its replacement, which is nearly always in the
     * same memory.
     *
     * @throws ScopeException if another participant took it over
     * @throws OutOfArenaException if the run had to be freed and allocated again, another participant took its memory
     *     first, and the arena is full
     */
    long renew(long ref, int epoch, RunChain chain) {
        long bytes = arena.runBytes(ref);
        long run = renewed(ref, epoch, chain);
        if (run == PageRun.NONE) {
            throw new ScopeException(Ref.describe(ref) + " is no run of that scope of participant "
                    + arena.participant() + " any more: it was taken over; open a new scope");
        }
        return PageRun.isBlocked(run)
                ? arena.allocateRun(bytes)
                : Ref.of(arena.id(), PageRun.generation(run), arena.offsetOf(PageRun.page(run)));
    }

    private long renewed(long ref, int epoch, RunChain chain) {
        if (isAlone) {
            return renewNow(ref, epoch);
        }
        synchronized (takers) {
            return isStillOf(chain, ref, epoch) ? renewNow(ref, epoch) : PageRun.NONE;
        }
    }

    private long renewNow(long ref, int epoch) {
        return pages.renew(arena.headAt(ref), Ref.generation(ref), epoch);
    }

    /**
     * Whether {@code chain} still owns a run. If so, removes the record, because the caller is about to free or renew
     * the run.
     */
    private boolean isStillOf(RunChain chain, long ref, int epoch) {
        if (takers.isEmpty()) {
            return true;
        }
        Run run = new Run(ref, epoch);
        boolean still = takers.getOrDefault(run, chain) == chain;
        if (still) {
            takers.remove(run);
        }
        return still;
    }
}
