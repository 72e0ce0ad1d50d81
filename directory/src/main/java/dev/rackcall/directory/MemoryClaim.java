package dev.rackcall.directory;

/** Mapped memory that counts against this member's quota until the claim is closed. Thread-safe. */
public final class MemoryClaim extends Leases.Bound implements AutoCloseable {
    private final Directory directory;
    private final DirectoryStore store;
    private final String path;
    private final Records.Claim claim;
    private boolean standing = true;
    private boolean closed;

    MemoryClaim(Directory directory, DirectoryStore store, String path, Records.Claim claim) {
        this.directory = directory;
        this.store = store;
        this.path = path;
        this.claim = claim;
    }

    public long bytes() {
        return claim.bytes();
    }

    @Override
    boolean isAt(String entry) {
        return path.equals(entry);
    }

    @Override
    synchronized void leaseLost() {
        standing = false;
    }

    /** The memory is still mapped, so it counts under the new lease, too. */
    @Override
    synchronized boolean leaseRenewed() {
        standing |= closed || store.create(path, Records.bytes(claim));
        return standing;
    }

    /**
     * Ends the claim, when the memory is unmapped. Idempotent.
     *
     * @throws DirectoryException {@code UNAVAILABLE} if the store did not answer: the entry is removed when it answers
     */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        directory.release(this);
        directory.withdraw(path);
    }
}
