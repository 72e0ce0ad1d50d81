package dev.rackcall.lock;

import dev.rackcall.shm.os.file.SharedFile;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Numbers for the owners of a table's sessions, whose death the kernel proves. Each number is a byte of a file, which
 * is locked while the owner's process lives, or while a process of the table's host holds it for a remote owner. A
 * number is never reused, so that a new owner is not mistaken for a dead one. Thread-safe.
 *
 * {@snippet :
 * LockOwners owners = LockOwners.of(path); // in each process; the table's own file will do
 * LockSession session = table.localSession(owners.claim());
 *
 * // at the table's host, for a remote owner, which is sent the number
 * long owner = owners.claim();
 * // when its connection has ended: first its queue pair, then the owner
 * queuePair.close();
 * owners.release(owner);
 *
 * // the keeper, about once a second, even if no owner has died
 * keeper.recover(owners::isDead);
 * }
 */
public final class LockOwners implements AutoCloseable {
    /** The greatest file offset; the kernel adds to it. */
    private static final long BOUND = 1L << 62;

    private final SharedFile file;
    private final Set<Long> own = ConcurrentHashMap.newKeySet();

    private LockOwners(SharedFile file) {
        this.file = file;
    }

    /**
     * Opens a file that all owners of this host use. It is not changed: the locks lie far beyond its end.
     *
     * @throws dev.rackcall.shm.os.OsException if there is no such regular file, or this user may not read and write it
     */
    public static LockOwners of(Path file) {
        return new LockOwners(SharedFile.openFile(file));
    }

    /** A new number. It lives until it is released, this object is closed, or the process ends. */
    public long claim() {
        while (true) {
            long owner = ThreadLocalRandom.current().nextLong(1, BOUND);
            if (file.tryLock(owner) && own.add(owner)) {
                return owner;
            }
        }
    }

    /**
     * Declares an owner dead. For a remote owner, first close this host's end of its queue pair, so that nothing
     * arrives later.
     *
     * @throws IllegalArgumentException if it was not claimed here, or is released already
     */
    public void release(long owner) {
        if (!own.remove(owner)) {
            throw new IllegalArgumentException("owner " + owner + " was not claimed here, or is released already");
        }
        file.unlock(owner);
    }

    /**
     * Whether this owner has ended, for {@link LockKeeper#recover}. Numbers that were not claimed by this class count
     * as dead.
     */
    public boolean isDead(long owner) {
        return owner > 0 && owner < BOUND && !own.contains(owner) && !file.isLockedElsewhere(owner);
    }

    /** Ends all owners that were claimed here. */
    @Override
    public void close() {
        file.close();
    }
}
