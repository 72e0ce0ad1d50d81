package dev.rackcall.directory;

import dev.rackcall.directory.DirectoryException.Reason;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;

/**
 * Arena ids that only this member owns, until the claim is closed or the lease is lost. A lost claim stays lost:
 * another member may own the ids by then, so the arenas must be created again under other ids. Thread-safe.
 */
public final class ArenaClaim extends Leases.Bound implements AutoCloseable {
    private final Directory directory;
    private final DirectoryStore store;
    private final List<Integer> ids;
    private final Runnable whenLost;
    private volatile boolean held = true;

    ArenaClaim(Directory directory, DirectoryStore store, List<Integer> ids, Runnable whenLost) {
        this.directory = directory;
        this.store = store;
        this.ids = ids;
        this.whenLost = whenLost;
    }

    /**
     * The ids, from 1 to 65,535.
     *
     * @throws DirectoryException {@code LEASE_LOST} if this process no longer owns them
     */
    public List<Integer> ids() {
        if (!held) {
            throw new DirectoryException(
                    Reason.LEASE_LOST,
                    "the arena ids " + ids
                            + " are no longer this process's, since its lease has ended; claim others and"
                            + " create the arenas again");
        }
        return ids;
    }

    public boolean isHeld() {
        return held;
    }

    @Override
    boolean isAt(String path) {
        return ids.stream().anyMatch(id -> EntryPaths.arenaOwner(id).equals(path));
    }

    @Override
    void leaseLost() {
        if (held) {
            held = false;
            whenLost.run();
        }
    }

    @Override
    boolean leaseRenewed() {
        directory.forget(this);
        return true;
    }

    /**
     * Returns the ids. Idempotent.
     *
     * @throws DirectoryException {@code UNAVAILABLE} if the store did not answer: ids that it did not release stay
     *     claimed until the lease ends
     */
    @Override
    public void close() {
        if (held) {
            held = false;
            directory.forget(this);
            directory.unlessClosed(() -> ids.forEach(id -> store.remove(EntryPaths.arenaOwner(id))));
        }
    }

    /**
     * Claims {@code count} free ids for a member, or none.
     *
     * @param all how many ids exist
     * @throws DirectoryException {@code EXHAUSTED} if fewer are free
     */
    static List<Integer> claimIds(DirectoryStore store, String member, int count, int all) {
        Set<String> taken = new HashSet<>(store.children(EntryPaths.ARENAS));
        // Starts at a random id, so that an id that was just freed is rarely reused at once.
        int first = new Random().nextInt(all);
        Set<Integer> ids = new LinkedHashSet<>();
        try {
            // Ids that were listed as taken are tried last: they may have become free.
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
