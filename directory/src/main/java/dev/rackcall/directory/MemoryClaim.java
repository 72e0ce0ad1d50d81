package dev.rackcall.directory;

/** Memory that this member has mapped and that counts against its quota until this is closed. Thread-safe. */
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

    /** The memory is mapped as before, so it counts under the new lease, too. */
    @Override
    synchronized boolean leaseRenewed() {
        standing |= closed || store.create(path, Records.bytes(claim));
        return standing;
    }

    /**
     * To be called when the memory is unmapped. Idempotent.
     *
     * @throws DirectoryException {@code UNAVAILABLE} if the store did not answer: others are told as soon as it does
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
