package dev.rackcall.directory;

import dev.rackcall.directory.DirectoryException.Reason;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * One process's membership in a directory. Its announcements and claims last as long as its lease. The lease ends at
 * {@link #close}, when the process dies, or when the store has had no contact with it for the lease's duration. Only
 * the store times leases, so the members' clocks may differ.
 *
 * <p>Thread-safe. One thread of the directory calls all listeners. RPC calls never need the store.
 */
public final class Directory implements AutoCloseable {
    private final DirectoryStore store;
    private final String member;
    private final Leases leases;
    private final AtomicLong claims = new AtomicLong();
    private final Object memoryLock = new Object();
    private long memoryClaimed;
    private volatile boolean closed;

    private Directory(DirectoryStore store, String member) {
        this.store = store;
        this.member = member;
        this.leases = new Leases(store);
    }

    /**
     * As {@link #open(URI, DirectoryOptions)}, with the options that the address contains, as in {@code
     * zk://host:2181/folder?lease=30s&timeout=2s}, and otherwise {@link DirectoryOptions#DEFAULT}.
     */
    public static Directory open(URI address) {
        return open(DirectoryOptions.withoutOptions(address), DirectoryOptions.of(address));
    }

    /**
     * Becomes a member.
     *
     * @param address {@code file:///a/directory} for the processes of one host, without a server; {@code
     *     zk://host:port,host:port} for a cluster, with {@code rackcall-directory-zookeeper}; contains no options
     * @throws DirectoryException {@code INVALID} if no store supports the address's scheme, {@code UNAVAILABLE} if the
     *     store does not answer in time
     */
    public static Directory open(URI address, DirectoryOptions options) {
        if (address.getRawQuery() != null) {
            throw new DirectoryException(
                    Reason.INVALID,
                    "the directory address " + address
                            + " names options, and others were given beside it; name them in one place");
        }
        List<String> schemes = new ArrayList<>();
        for (StoreProvider provider : ServiceLoader.load(StoreProvider.class)) {
            if (provider.scheme().equals(address.getScheme())) {
                return new Directory(
                        provider.open(address, options), Long.toHexString(new Random().nextLong() | Long.MIN_VALUE));
            }
            schemes.add(provider.scheme() + ":");
        }
        throw new DirectoryException(
                Reason.INVALID,
                "no store here understands the directory address " + address + "; known are " + schemes
                        + " (zk: needs rackcall-directory-zookeeper)");
    }

    /** Becomes a member of the directory in this store; {@link #close} closes the store. */
    static Directory over(DirectoryStore store) {
        return new Directory(store, Long.toHexString(new Random().nextLong() | Long.MIN_VALUE));
    }

    /**
     * Announces an endpoint of a channel, until the announcement is closed.
     *
     * @throws DirectoryException {@code CONFLICT} if the channel has an endpoint of this id
     */
    public Announcement announce(ChannelName channel, Endpoint endpoint) {
        requireOpen();
        String path = EntryPaths.endpoint(channel, endpoint.id());
        if (!store.create(path, Records.bytes(endpoint))) {
            throw new DirectoryException(
                    Reason.CONFLICT,
                    "the channel " + channel + " has an endpoint " + endpoint.id() + " already" + told(path)
                            + "; give each endpoint an id of its own");
        }
        return leases.bind(new Announcement(this, store, channel, endpoint));
    }

    private String told(String path) {
        return read(path, Endpoint.class).map(other -> " on " + other.host()).orElse("");
    }

    /** Follows a channel, which need not exist yet. */
    public ChannelView follow(ChannelName channel) {
        requireOpen();
        return new ChannelView(this, store, channel);
    }

    /** The channels that have endpoints now, sorted. Queries the store. */
    public List<ChannelName> channels() {
        requireOpen();
        List<ChannelName> found = new ArrayList<>();
        collect("", found);
        return List.copyOf(found);
    }

    private void collect(String name, List<ChannelName> found) {
        for (String segment : store.children(EntryPaths.CHANNELS + name)) {
            if (!segment.equals(EntryPaths.ENDPOINTS)) {
                collect(name + "/" + segment, found);
            } else if (!store.children(EntryPaths.CHANNELS + name + "/" + segment)
                    .isEmpty()) {
                found.add(ChannelName.of(name));
            }
        }
    }

    /** The endpoints of a channel now, by id. Queries the store; for repeated checks use {@link #follow}. */
    public List<Endpoint> endpoints(ChannelName channel) {
        requireOpen();
        List<Endpoint> found = new ArrayList<>();
        for (String id : store.children(EntryPaths.endpoints(channel))) {
            read(EntryPaths.endpoint(channel, id), Endpoint.class).ifPresent(found::add);
        }
        return List.copyOf(found);
    }

    /**
     * Claims arena ids that no other member owns.
     *
     * @param whenLost called by the directory's thread if the lease is lost before the claim is closed; must not
     *     block
     * @throws DirectoryException {@code EXHAUSTED} if fewer are free
     */
    public ArenaClaim claimArenas(int count, Runnable whenLost) {
        requireOpen();
        List<Integer> ids = ArenaClaim.claimIds(store, member, count, limits().arenaIds());
        return leases.bind(new ArenaClaim(this, store, ids, () -> tell(_ -> whenLost.run(), ids)));
    }

    /**
     * Reports when an arena has no owner any more: its id was returned, or its owner's lease has ended. Processes that
     * map it should then unmap it. An arena without an owner is reported at once.
     *
     * @param whenGone called once, by the directory's thread
     */
    public ArenaWatch watchArena(int id, Runnable whenGone) {
        requireOpen();
        return new ArenaWatch(this, store, id, whenGone);
    }

    /**
     * Counts memory that this process maps against its quota.
     *
     * @throws DirectoryException {@code QUOTA_EXCEEDED} if the total would exceed {@link Limits#memoryPerMember}
     */
    public MemoryClaim claimMemory(long bytes) {
        requireOpen();
        long most = limits().memoryPerMember();
        synchronized (memoryLock) {
            if (bytes < 0 || bytes > most - memoryClaimed) {
                throw new DirectoryException(
                        Reason.QUOTA_EXCEEDED,
                        "this process has " + memoryClaimed + " bytes of arenas mapped and may have " + most + "; "
                                + bytes + " more are too many: close channels first, or raise the directory's limit");
            }
            memoryClaimed += bytes;
        }
        Records.Claim record = new Records.Claim(member, bytes);
        String path = EntryPaths.memory(member, claims.incrementAndGet());
        MemoryClaim claim = new MemoryClaim(this, store, path, record);
        try {
            store.create(path, Records.bytes(record));
        } catch (RuntimeException e) {
            release(claim);
            throw e;
        }
        return leases.bind(claim);
    }

    /** The limits of the directory now. Queries the store. */
    public Limits limits() {
        return read(EntryPaths.LIMITS, Limits.class).orElse(Limits.DEFAULT);
    }

    private <T> Optional<T> read(String path, Class<T> type) {
        return store.get(path).flatMap(bytes -> Records.read(bytes, type, path));
    }

    /** Sets the limits of all members. Members keep what already exceeds them. */
    public void setLimits(Limits limits) {
        requireOpen();
        store.put(EntryPaths.LIMITS, Records.bytes(limits));
    }

    /** Whether this member's lease is held, as far as this process knows. */
    public boolean isLeaseHeld() {
        return !closed && store.isLeaseHeld();
    }

    void forget(Leases.Bound item) {
        leases.forget(item);
    }

    void release(MemoryClaim claim) {
        forget(claim);
        synchronized (memoryLock) {
            memoryClaimed -= claim.bytes();
        }
    }

    void execute(Runnable task) {
        leases.execute(task);
    }

    /** Calls a listener and logs its exceptions. */
    <T> void tell(Consumer<T> listener, T what) {
        Leases.tell(listener, what);
    }

    /**
     * Removes an entry. If the store does not answer, the removal is retried until it does.
     *
     * @throws DirectoryException {@code UNAVAILABLE} if the store did not answer
     */
    void withdraw(String path) {
        if (closed) {
            return;
        }
        try {
            store.remove(path);
        } catch (DirectoryException e) {
            if (e.reason() == Reason.UNAVAILABLE) {
                leases.later("the withdrawal of " + path, () -> {
                    // The first attempt may have removed the entry, and a new item may have created it again.
                    if (!closed && !leases.keep(path)) {
                        store.remove(path);
                    }
                    return true;
                });
            }
            throw e;
        }
    }

    void requireOpen() {
        if (closed) {
            throw new DirectoryException(Reason.CLOSED, "this directory has been closed; open another one");
        }
    }

    /** Runs a task unless the directory is closed, because closing the store makes the task unnecessary. */
    void unlessClosed(Runnable task) {
        if (!closed) {
            task.run();
        }
    }

    /** Withdraws all announcements, releases all claims and ends the lease. Idempotent. */
    @Override
    public void close() {
        if (!closed) {
            closed = true;
            leases.close();
            store.close();
        }
    }
}
