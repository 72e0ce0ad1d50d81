package dev.rackcall.directory;

import dev.rackcall.directory.DirectoryException.Reason;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/** Finds arena ids that nobody in the cluster has, and enters them as a member's. */
final class ArenaIds {
    private ArenaIds() {}

    /**
     * Takes as many, or none.
     *
     * @param all ids that there are
     * @throws DirectoryException {@code EXHAUSTED} if not so many are free
     */
    static List<Integer> claim(DirectoryStore store, String member, int count, int all) {
        Set<String> taken = new HashSet<>(store.children(EntryPaths.ARENAS));
        // From anywhere on, so that an id that has just become free is seldom the next one taken.
        int first = new Random().nextInt(all);
        Set<Integer> ids = new LinkedHashSet<>();
        try {
            // What looks taken is tried in the end, too: it may have become free.
            for (boolean wantTaken : new boolean[] {false, true}) {
                for (int i = 0; i < all && ids.size() < count; i++) {
                    int id = 1 + (first + i) % all;
                    if (taken.contains(Integer.toString(id)) == wantTaken
                            && !ids.contains(id)
                            && claim(store, member, id)) {
                        ids.add(id);
                    }
                }
            }
            if (ids.size() < count) {
                throw new DirectoryException(
                        Reason.EXHAUSTED,
                        "of " + all + " arena ids " + ids.size() + " are free, not the " + count
                                + " asked for; close connections, or raise the directory's limit");
            }
        } catch (RuntimeException e) {
            ids.forEach(id -> store.remove(EntryPaths.arenaOwner(id)));
            throw e;
        }
        return List.copyOf(ids);
    }

    private static boolean claim(DirectoryStore store, String member, int id) {
        return store.create(EntryPaths.arenaOwner(id), Records.bytes(new Records.Claim(member, 0)));
    }
}
