package dev.rackcall.directory;

import dev.rackcall.directory.DirectoryException.Reason;

/**
 * An endpoint's announcement, which lasts until it is closed. If the lease is lost, the endpoint is announced again
 * under the next lease, because its server still runs. Thread-safe.
 */
public final class Announcement extends Leases.Bound implements AutoCloseable {
    private final Directory directory;
    private final DirectoryStore store;
    private final ChannelName channel;
    private Endpoint endpoint;
    /**
     * Written with the monitor held, like the next field. Read without it, because its holder may wait for the store.
     */
    private volatile boolean standing = true;

    private volatile boolean closed;

    Announcement(Directory directory, DirectoryStore store, ChannelName channel, Endpoint endpoint) {
        this.directory = directory;
        this.store = store;
        this.channel = channel;
        this.endpoint = endpoint;
    }

    /**
     * Changes how the endpoint is reached, or its load. Without a lease the change is remembered and announced with the
     * next lease.
     *
     * @throws DirectoryException {@code INVALID} if {@code now} has another id or interface; {@code UNAVAILABLE} if the
     *     store did not answer: the change may have taken effect
     */
    public synchronized void update(Endpoint now) {
        if (!now.id().equals(endpoint.id()) || now.fingerprint() != endpoint.fingerprint()) {
            throw new DirectoryException(
                    Reason.INVALID,
                    "endpoint " + endpoint.id() + " of " + channel + " cannot become endpoint " + now.id()
                            + " or change its interface; announce the other one and close this announcement");
        }
        directory.requireOpen();
        endpoint = now;
        if (standing && !closed) {
            store.replace(path(), Records.bytes(now));
        }
    }

    public ChannelName channel() {
        return channel;
    }

    public synchronized Endpoint endpoint() {
        return endpoint;
    }

    /** Whether the directory names the endpoint now, as far as this process knows. Never waits. */
    public boolean isStanding() {
        return standing && !closed;
    }

    @Override
    synchronized boolean isAt(String path) {
        return !closed && path().equals(path);
    }

    @Override
    synchronized void leaseLost() {
        standing = false;
    }

    @Override
    synchronized boolean leaseRenewed() {
        if (closed || standing) {
            return true;
        }
        // The entry of the old lease may exist for a moment longer.
        standing = store.create(path(), Records.bytes(endpoint));
        return standing;
    }

    private String path() {
        return EntryPaths.endpoint(channel, endpoint.id());
    }

    /**
     * Withdraws the endpoint. Idempotent.
     *
     * @throws DirectoryException {@code UNAVAILABLE} if the store did not answer: the endpoint is withdrawn when it
     *     answers, or when the lease ends
     */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        directory.forget(this);
        directory.withdraw(path());
    }
}
