package dev.rackcall.rpc.shm.mirror;

import dev.rackcall.shm.Ref;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

/** Which bytes of a node's arena belong to scopes that others may read, as they were when somebody looked. Immutable. */
final class PublishedRuns {
    static final PublishedRuns NONE = of(List.of());

    /** Above these bits a Ref has what all Refs into a run have in common. */
    private static final int COMMON_SHIFT = 40;

    private final Run[] runs;

    /**
     * A run of a scope.
     *
     * @param ref of its first byte
     * @param end offset in the arena behind its last byte in use
     * @param scope Ref of the first run of its scope
     */
    record Run(long ref, long end, long scope) {}

    private PublishedRuns(Run[] runs) {
        this.runs = runs;
    }

    static PublishedRuns of(List<Run> runs) {
        Run[] sorted = runs.toArray(Run[]::new);
        Arrays.sort(sorted, Comparator.comparingLong(run -> Ref.offset(run.ref)));
        return new PublishedRuns(sorted);
    }

    PublishedRuns without(long scope) {
        return new PublishedRuns(
                Arrays.stream(runs).filter(run -> run.scope != scope).toArray(Run[]::new));
    }

    /** Offset behind the run that {@code ref} leads into; -1 if it leads into none, or into one of another generation. */
    long endAt(long ref) {
        int low = 0;
        int high = runs.length - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            if (Ref.offset(runs[middle].ref) <= Ref.offset(ref)) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        if (high < 0) {
            return -1;
        }
        Run run = runs[high];
        boolean leadsThere = (run.ref ^ ref) >>> COMMON_SHIFT == 0 && Ref.offset(ref) < run.end;
        return leadsThere ? run.end : -1;
    }
}
