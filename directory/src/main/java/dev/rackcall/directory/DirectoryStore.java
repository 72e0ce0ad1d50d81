package dev.rackcall.directory;

import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/**
 * A tree of small entries that the members of a directory share; one instance is one member's session. Paths are segments, each after a
 * slash, of letters, digits and {@code . _ - @}; no segment is {@code .} or {@code ..}.
 *
 * <p>An entry is <em>mine</em> if it is bound to this session's lease: the store removes it when the lease ends, whatever became of this
 * process. A lease that is lost does not come back; a store then begins a new one by itself as soon as it can and says so.
 *
 * <p>All methods are thread-safe and end within the time limit that the store was opened with; what cannot be done by then is
 * {@link dev.rackcall.directory.DirectoryException} with {@code UNAVAILABLE}.
 */
public interface DirectoryStore extends AutoCloseable {
    /** The most that an entry may hold. */
    int MAX_VALUE_BYTES = 64 * 1024;

    /** Told of one folder's entries; called by a thread of the store, in order, never by two threads at a time. Must not block. */
    @FunctionalInterface
    interface Follower {
        /**
         * @param entries all entries of the folder by their last segment, now
         */
        void changed(SortedMap<String, byte[]> entries);
    }

    /** Told of this session's lease; called by a thread of the store. Must not block. */
    interface LeaseListener {
        /** The lease has ended: everything that was mine is gone or will be at once. */
        void lost();

        /** There is a new lease. Nothing is bound to it yet. */
        void renewed();
    }

    /** Ends what a call of {@link #follow} began. Idempotent. */
    interface Following extends AutoCloseable {
        /** False while the store cannot be reached: the entries told last may be out of date. */
        boolean isCurrent();

        @Override
        void close();
    }

    /**
     * Makes an entry that is mine.
     *
     * @return false if there is an entry already
     * @throws dev.rackcall.directory.DirectoryException {@code LEASE_LOST} while there is no lease
     */
    boolean create(String path, byte[] value);

    /**
     * Gives an entry that is mine another value.
     *
     * @return false if it is not mine, or no longer there
     */
    boolean replace(String path, byte[] value);

    /** Removes an entry if it is mine; otherwise does nothing. */
    void remove(String path);

    /** Makes an entry, or gives it another value, that is bound to no lease. */
    void put(String path, byte[] value);

    Optional<byte[]> get(String path);

    /** The last segments of all folders and entries directly below a folder, sorted; none if there is no such folder. */
    List<String> children(String folder);

    /** Tells of the entries directly below a folder: soon for the first time, then after every change. The folder need not exist. */
    Following follow(String folder, Follower follower);

    /** Whether the lease is held, as far as this process knows. */
    boolean isLeaseHeld();

    /** Called when the lease ends and when there is a new one. To be said once, before anything is made. */
    void onLease(LeaseListener listener);

    /** Removes all that is mine and ends the lease. Idempotent. */
    @Override
    void close();
}
