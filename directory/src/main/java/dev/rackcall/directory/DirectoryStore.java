package dev.rackcall.directory;

import java.util.List;
import java.util.Optional;
import java.util.SortedMap;

/**
 * A tree of small entries that the members of a directory share; one instance is one member's session. A path is a
 * sequence of segments, each after a slash, of letters, digits and {@code . _ - @}; no segment is {@code .} or {@code
 * ..}.
 *
 * <p>An entry is <em>mine</em> if it is bound to this session's lease: the store removes it when the lease ends, even
 * if this process has died. A lost lease does not return. The store begins a new one as soon as it can, and calls the
 * lease's listener.
 *
 * <p>All methods are thread-safe and end within the store's time limit; after that they throw {@link
 * dev.rackcall.directory.DirectoryException} with {@code UNAVAILABLE}.
 */
public interface DirectoryStore extends AutoCloseable {
    /** Maximum size of an entry. */
    int MAX_VALUE_BYTES = 64 * 1024;

    /** Receives one folder's entries. A thread of the store calls it, in order, never concurrently. Must not block. */
    @FunctionalInterface
    interface Follower {
        /**
         * @param entries all current entries of the folder, by the last segment of their paths
         */
        void changed(SortedMap<String, byte[]> entries);
    }

    /** Receives the changes of this session's lease. A thread of the store calls it. Must not block. */
    interface LeaseListener {
        /** The lease has ended: all entries that were mine are removed, or will be at once. */
        void lost();

        /** There is a new lease, with no entries yet. */
        void renewed();
    }

    /** Ends a {@link #follow}. Idempotent. */
    interface Following extends AutoCloseable {
        /** False while the store cannot be reached: the last reported entries may be out of date. */
        boolean isCurrent();

        @Override
        void close();
    }

    /**
     * Makes an entry that is mine.
     *
     * @return false if the entry exists
     * @throws dev.rackcall.directory.DirectoryException {@code LEASE_LOST} while there is no lease
     */
    boolean create(String path, byte[] value);

    /**
     * Changes the value of an entry that is mine.
     *
     * @return false if it is not mine, or does not exist
     */
    boolean replace(String path, byte[] value);

    /** Removes an entry if it is mine; otherwise does nothing. */
    void remove(String path);

    /** Makes an entry that is bound to no lease, or changes its value. */
    void put(String path, byte[] value);

    Optional<byte[]> get(String path);

    /** The last segments of all folders and entries directly below a folder, sorted; none if no such folder exists. */
    List<String> children(String folder);

    /**
     * Reports the entries directly below a folder: soon for the first time, then after every change. The folder need
     * not exist.
     */
    Following follow(String folder, Follower follower);

    /** Whether the lease is held, as far as this process knows. */
    boolean isLeaseHeld();

    /** Sets the listener of the lease. Called once, before any entry is made. */
    void onLease(LeaseListener listener);

    /** Removes all entries that are mine and ends the lease. Idempotent. */
    @Override
    void close();
}
