package dev.rackcall.shm;

import dev.rackcall.shm.alloc.PageAllocator;
import dev.rackcall.shm.alloc.PageEntry;
import dev.rackcall.shm.alloc.PageRun;
import java.util.HashMap;
import java.util.Map;

/**
 * How scopes free, renew and take over their runs, which may change hands between the participants of an arena. The page table says which participant has a run, and of which epoch and
 * generation it is. But one that was handed to another participant and has come back is the same run as before: which scope of this process has it now is noted here. Thread-safe.
 */
final class HandedRuns {
    private record Run(long ref, int epoch) {}

    private final Arena arena;
    private final PageAllocator pages;
    /** Nobody else can have a part of the arena, so none can change hands. */
    private final boolean isAlone;

    /** Which chain has what this process took over. Guards itself, together with the step in the page table. */
    private final Map<Run, RunChain> takers = new HashMap<>();

    HandedRuns(Arena arena, PageAllocator pages, TableHome home) {
        this.arena = arena;
        this.pages = pages;
        this.isAlone = home == TableHome.PRIVATE;
    }

    /** The {@link PageEntry} of a run of {@code holder}; 0 if that has none at {@code ref}. */
    long entryOf(long ref, int holder) {
        return pages.heldBy(holder, arena.headAt(ref), Ref.generation(ref));
    }

    /** Which of the runs that begin at the same page this run of this process is. */
    int epochOf(long ref) {
        return PageEntry.epoch(entryOf(ref, arena.participant()));
    }

    /** Makes a run this participant's, whoever dies from the return on. Returns false if it no longer is what {@link #entryOf} saw. */
    boolean takeOver(long ref, long entry, RunChain taker) {
        synchronized (takers) {
            boolean taken = pages.takeOver(arena.headAt(ref), entry);
            if (taken) {
                takers.put(new Run(ref, PageEntry.epoch(entry)), taker);
            }
            return taken;
        }
    }

    /** Gives a run of {@code chain} back, unless it was taken over from that: then page and generation may be those of a later run, but not the epoch, too. */
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
     * Makes Refs into a run of {@code chain} stale; returns Ref of the run that takes its place, nearly always the same memory.
     *
     * @throws ScopeException if it was taken over
     * @throws OutOfArenaException if its memory had to be allocated anew, and somebody else was faster; it is freed then
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

    /** Whether nobody else has taken over what {@code chain} had once. Forgets the run then, since it is about to end. */
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
