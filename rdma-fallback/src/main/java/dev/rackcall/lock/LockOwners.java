package dev.rackcall.lock;

import dev.rackcall.shm.os.file.SharedFile;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Numbers for the owners of a table's sessions, whose lives the kernel proves: each is a byte of a file that is locked as long as its process lives, or as long as a process
 * of the table's host vouches for somebody elsewhere. A number is not given twice, so that whoever comes after a dead one is not taken for it. Thread-safe.
 *
 * {@snippet :
 * LockOwners owners = LockOwners.of(path); // in each process; the table's own file will do
 * LockSession session = table.localSession(owners.claim());
 *
 * // where the table lies, for one who comes by RDMA; the number is sent to him
 * long owner = owners.claim();
 * // when his connection has ended: first what he sent, then he
 * queuePair.close();
 * owners.release(owner);
 *
 * // and the keeper, each second or so, also if nobody has died
 * keeper.recover(owners::isDead);
 * }
 */
public final class LockOwners implements AutoCloseable {
    /** File offsets end there, and the kernel adds to them. */
    private static final long BOUND = 1L << 62;

    private final SharedFile file;
    private final Set<Long> own = ConcurrentHashMap.newKeySet();

    private LockOwners(SharedFile file) {
        this.file = file;
    }

    /**
     * Opens a file that all owners of this host use. Nothing in it is changed; locks lie far beyond its end.
     *
     * @throws dev.rackcall.shm.os.OsException if there is none, if it is not a regular file, or if this user may not read and write it
     */
    public static LockOwners of(Path file) {
        return new LockOwners(SharedFile.openFile(file));
    }

    /** A number that nobody has had, and that lives until it is released, this is closed, or the process ends, however it ends. */
    public long claim() {
        while (true) {
            long owner = ThreadLocalRandom.current().nextLong(1, BOUND);
            if (file.tryLock(owner) && own.add(owner)) {
                return owner;
            }
        }
    }

    /**
     * What this owner holds or waits for may be taken from it. For an owner by RDMA: after this host's end of its queue pair is closed, so that nothing arrives later.
     *
     * @throws IllegalArgumentException if it was not claimed here, or is released already
     */
    public void release(long owner) {
        if (!own.remove(owner)) {
            throw new IllegalArgumentException("owner " + owner + " was not claimed here, or is released already");
        }
        file.unlock(owner);
    }

    /** Whether this owner has ended: for {@link LockKeeper#recover}. Of numbers that were not claimed by this class it knows nothing, and calls them dead. */
    public boolean isDead(long owner) {
        return owner > 0 && owner < BOUND && !own.contains(owner) && !file.isLockedElsewhere(owner);
    }

    /** Ends all owners that were claimed here. */
    @Override
    public void close() {
        file.close();
    }
}
