package dev.rackcall.samples.documents;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Numbers the paths in documents: an index then compares an int instead of a list of names. Not thread-safe;
 * searches change nothing.
 */
final class PathTable {
    /** The path of a document's root. */
    static final int ROOT = 0;

    static final int NOWHERE = -1;

    private static final int CACHED = 1 << 12;
    private static final long SCATTER = 0x9e3779b97f4a7c15L;

    private final Map<Step, Integer> paths = new HashMap<>();

    /**
     * Paths by the Ref of their last name, since members of one batch with equal names refer to one text. Valid for one
     * batch.
     */
    private final long[] cachedNames = new long[CACHED];

    private final int[] cachedParents = new int[CACHED];
    private final int[] cachedPaths = new int[CACHED];

    /** Clears the cache, whose Refs may now refer to other memory. */
    void beginBatch() {
        Arrays.fill(cachedNames, 0);
    }

    /** The number of the path from {@code parent} to that member; adds the path if it is new. */
    int child(int parent, JsonValue member, Cursors cursors) {
        long name = member.name().bits();
        int place = (int) (((name + parent) * SCATTER) >>> (Long.SIZE - Integer.numberOfTrailingZeros(CACHED)));
        if (cachedNames[place] != name || cachedParents[place] != parent || name == 0) {
            cachedPaths[place] = child(parent, cursors.name(member).toString());
            cachedParents[place] = parent;
            cachedNames[place] = name;
        }
        return cachedPaths[place];
    }

    private int child(int parent, String name) {
        Step step = new Step(parent, name);
        Integer known = paths.get(step);
        if (known == null) {
            known = paths.size() + 1;
            paths.put(step, known);
        }
        return known;
    }

    /** The number of a path from the root, or {@link #NOWHERE} if no document has it. */
    int find(List<String> names) {
        Integer path = ROOT;
        for (String name : names) {
            path = paths.get(new Step(path, name));
            if (path == null) {
                return NOWHERE;
            }
        }
        return path;
    }

    void clear() {
        paths.clear();
    }

    private record Step(int parent, String name) {}
}
