package dev.rackcall.directory;

import dev.rackcall.directory.DirectoryException.Reason;
import java.util.List;

/**
 * Arena ids that nobody else in the cluster has until this is closed or the lease is lost. A claim that is lost stays lost: somebody else may
 * have the ids by then, so the arenas have to be given up and made anew under other ids. Thread-safe.
 */
public final class ArenaClaim extends LeaseBound implements AutoCloseable {
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
     * @throws DirectoryException {@code LEASE_LOST} if they are no longer this process's
     */
    public List<Integer> ids() {
        if (!held) {
            throw new DirectoryException(
                    Reason.LEASE_LOST,
                    "the arena ids " + ids
                            + " are no longer this process's, since its lease has ended; claim others and"
                            + " make the arenas anew");
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
     * Gives the ids back. Idempotent.
     *
     * @throws DirectoryException {@code UNAVAILABLE} if the store did not answer: what it was not told of stays claimed until the lease ends
     */
    @Override
    public void close() {
        if (held) {
            held = false;
            directory.forget(this);
            directory.unlessClosed(() -> ids.forEach(id -> store.remove(EntryPaths.arenaOwner(id))));
        }
    }
}
