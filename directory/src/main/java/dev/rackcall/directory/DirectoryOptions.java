package dev.rackcall.directory;

import java.time.Duration;

/**
 * How a process takes part in a directory.
 *
 * @param lease how long a member that cannot be reached keeps what it has announced and claimed. A directory of one host needs no such
 *     time: there the kernel tells who has died
 * @param timeout the most that any operation may take
 */
public record DirectoryOptions(Duration lease, Duration timeout) {
    /** Before {@link #DEFAULT}, which is checked against it. */
    private static final Duration LEAST_LEASE = Duration.ofSeconds(1);

    /** A lease of 10 s, 5 s for an operation. */
    public static final DirectoryOptions DEFAULT = new DirectoryOptions(Duration.ofSeconds(10), Duration.ofSeconds(5));

    /** Checks both. */
    public DirectoryOptions {
        if (lease.compareTo(LEAST_LEASE) < 0) {
            throw new DirectoryException(
                    DirectoryException.Reason.INVALID,
                    "a lease of " + lease.toMillis()
                            + " ms is lost by every pause of the garbage collector; use 1 s or more");
        }
        if (timeout.isZero() || timeout.isNegative()) {
            throw new DirectoryException(
                    DirectoryException.Reason.INVALID, "the time limit of operations must be positive, not " + timeout);
        }
    }

    public DirectoryOptions withLease(Duration newLease) {
        return new DirectoryOptions(newLease, timeout);
    }

    public DirectoryOptions withTimeout(Duration newTimeout) {
        return new DirectoryOptions(lease, newTimeout);
    }
}
