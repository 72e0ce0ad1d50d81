package dev.rackcall.directory;

import dev.rackcall.directory.DirectoryException.Reason;

/**
 * An endpoint that a directory names until this is closed. If the lease is lost, the endpoint is announced again as soon as there is a new
 * one: whoever runs still serves. Thread-safe.
 */
public final class Announcement extends Leases.Bound implements AutoCloseable {
    private final Directory directory;
    private final DirectoryStore store;
    private final ChannelName channel;
    private Endpoint endpoint;
    /** Written with the monitor, as what follows; read without, so that nobody waits for the store who only asks. */
    private volatile boolean standing = true;

    private volatile boolean closed;

    Announcement(Directory directory, DirectoryStore store, ChannelName channel, Endpoint endpoint) {
        this.directory = directory;
        this.store = store;
        this.channel = channel;
        this.endpoint = endpoint;
    }

    /**
     * Says how the endpoint is reached, or how busy it is, from now on. While there is no lease this is remembered and told later.
     *
     * @throws DirectoryException {@code INVALID} if it is another endpoint; {@code UNAVAILABLE} if the store did not answer: it may have
     *     been told
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

    /** Whether the directory names the endpoint now, as far as this process knows. Waits for nobody. */
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
        // An entry of the old lease may stand for a moment longer.
        standing = store.create(path(), Records.bytes(endpoint));
        return standing;
    }

    private String path() {
        return EntryPaths.endpoint(channel, endpoint.id());
    }

    /**
     * Withdraws the endpoint. Idempotent.
     *
     * @throws DirectoryException {@code UNAVAILABLE} if the store did not answer: the endpoint is withdrawn as soon as it does, or with the lease
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
