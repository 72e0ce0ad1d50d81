package dev.rackcall.rpc.balance;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.runtime.FolderWatch;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.runtime.ServerInstance;
import dev.rackcall.rpc.shm.HostServers;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.LimitedLog;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.function.Predicate;

/**
 * Finds the servers of a channel by their files in the runtime directory, as soon as the files appear, and connects to
 * them on background threads. Thread-safe.
 */
final class ServerSearch implements AutoCloseable {
    /** Maximum number of servers that one channel connects to; if there are more, it chooses at random. */
    static final int MOST_SERVERS = 16;

    private static final LimitedLog LOG = LimitedLog.of(ServerSearch.class);
    /** How long a background thread waits for a server that does not answer. */
    private static final Duration CONNECT_BOUND = Duration.ofSeconds(5);
    /** The least time for one of several servers. */
    private static final Duration LEAST_BOUND = Duration.ofMillis(100);
    /** How long a server may take from making its socket to listening there. */
    private static final long STARTING_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long LISTEN_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(2);
    /** Pause before servers that could not be reached are tried again. */
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(2);

    private final ClientSpec spec;
    private final Owner owner;
    private final RuntimeDirectory directory;

    // The following fields are guarded by this object's lock. No method of the owner is called with the lock held.

    /** Ids of servers that a background thread connects to. */
    private final Set<String> tried = new HashSet<>();
    /** Ids of servers of versions that the channel's stubs cannot call. */
    private final Set<String> unsuitable = new HashSet<>();
    /** Ids of servers that have refused this client for good. */
    private final Set<String> refusing = new HashSet<>();

    /** Ids of servers that could not be reached. They are tried again later, and no call waits for them. */
    private final Set<String> unreached = new HashSet<>();
    /** How many attempts to connect on a background thread have ended. */
    private long attempts;

    private boolean isDue;
    private long dueAt;
    private boolean stopped;
    /** Whether it is closed; it is {@link #stopped}, too. */
    private boolean closed;
    /** Null before {@link #start}. */
    private FolderWatch watch;

    /** The user of what is found. */
    interface Owner {
        /** Whether more servers are wanted now; if not, they are looked for again later. */
        boolean needsServers();

        /** How many servers are connected. */
        int connected();

        /** Whether that server is connected. */
        boolean isConnected(String id);

        /** Takes a connection; false if the caller must close it. */
        boolean adopt(HostServers.Reached reached);

        /** Called after {@link #adopt} on a background thread. */
        void found();

        /** Called twice a second, and at each change of the directory. Must not block. */
        void tick();
    }

    ServerSearch(ClientSpec spec, Owner owner) {
        this.spec = spec;
        this.owner = owner;
        this.directory = RuntimeDirectory.at(spec.directory());
    }

    /** Begins to look for servers. */
    void start() {
        FolderWatch started = FolderWatch.start(directory.path(), this::look);
        boolean late;
        synchronized (this) {
            watch = started;
            late = closed;
        }
        if (late) {
            started.close();
        } else {
            lookAtOnce();
        }
    }

    /** Makes the next tick look for servers, even if the directory has not changed since. */
    void soon() {
        later(0);
    }

    private synchronized void later(long nanos) {
        isDue = true;
        dueAt = System.nanoTime() + nanos;
    }

    /** Called by the thread of all watches. */
    private void look(boolean changed) {
        owner.tick();
        boolean due;
        synchronized (this) {
            due = !stopped && (changed || (isDue && System.nanoTime() - dueAt >= 0));
        }
        if (due) {
            lookAtOnce();
        }
    }

    private void lookAtOnce() {
        if (!owner.needsServers()) {
            // The change that was reported must not be forgotten until then.
            soon();
            return;
        }
        synchronized (this) {
            isDue = false;
        }
        for (ServerInstance each : living(_ -> true)) {
            // A server has its lock before its socket, whose file is another change.
            if (!owner.isConnected(each.id()) && Files.exists(each.socket())) {
                beginUnlessKnown(each, owner.connected());
            }
        }
    }

    /**
     * The live servers among those that are wanted, in random order. Servers that cannot be examined are left out, and
     * are examined again later.
     */
    private List<ServerInstance> living(Predicate<ServerInstance> wanted) {
        List<ServerInstance> living = new ArrayList<>();
        try {
            List<ServerInstance> all = directory.instances(spec.channel());
            forgetAllBut(all);
            for (ServerInstance each : all) {
                if (wanted.test(each) && isAlive(each)) {
                    living.add(each);
                }
            }
        } catch (RpcException e) {
            unseen(directory.path(), e);
        }
        Collections.shuffle(living);
        return living;
    }

    /** No two servers ever have the same id, so the ids of ended servers are dropped. */
    private synchronized void forgetAllBut(List<ServerInstance> present) {
        Set<String> ids = new HashSet<>();
        present.forEach(each -> ids.add(each.id()));
        unsuitable.retainAll(ids);
        refusing.retainAll(ids);
        unreached.retainAll(ids);
    }

    private boolean isAlive(ServerInstance server) {
        try {
            if (server.isAlive()) {
                return true;
            }
            directory.clean(server);
        } catch (RuntimeException e) {
            unseen(server.socket(), e);
        }
        return false;
    }

    private void unseen(Path what, RuntimeException why) {
        later(RETRY_NANOS);
        LOG.warn("channel {}: {} cannot be examined; it is looked at again", spec.channel(), what, why);
    }

    private synchronized void beginUnlessKnown(ServerInstance server, int connected) {
        if (stopped || !isCandidate(server) || connected + tried.size() >= MOST_SERVERS || !tried.add(server.id())) {
            return;
        }
        try {
            Thread.ofPlatform().daemon().name("rackcall-connect").start(() -> connectBehind(server));
        } catch (RuntimeException | Error e) {
            tried.remove(server.id());
            later(RETRY_NANOS);
            throw e;
        }
    }

    private void connectBehind(ServerInstance server) {
        boolean adopted = false;
        try {
            adopted = connect(server, CONNECT_BOUND);
        } catch (RuntimeException e) {
            later(RETRY_NANOS);
            LOG.warn("channel {}: connecting to {} failed", spec.channel(), server.socket(), e);
        } finally {
            synchronized (this) {
                tried.remove(server.id());
                if (adopted) {
                    unreached.remove(server.id());
                } else {
                    unreached.add(server.id());
                }
                attempts++;
                notifyAll();
            }
        }
        if (adopted) {
            owner.found();
        }
    }

    /**
     * Looks for servers until the condition holds, and waits for their connections. Calls that find none may repeat this:
     * it connects to new servers only, and otherwise reads the folder.
     *
     * @param found called without a lock
     * @param deadline nanoTime
     * @return false if none of the servers makes it true
     * @throws RpcException DEADLINE_EXCEEDED, or CANCELLED if the thread is interrupted
     */
    boolean isFound(BooleanSupplier found, long deadline) {
        if (found.getAsBoolean()) {
            return true;
        }
        for (ServerInstance each : living(this::isNew)) {
            beginUnlessKnown(each, owner.connected());
        }
        long seen;
        do {
            synchronized (this) {
                seen = attempts;
            }
            if (found.getAsBoolean()) {
                return true;
            }
        } while (awaitAttempt(seen, deadline));
        return found.getAsBoolean();
    }

    private boolean isNew(ServerInstance server) {
        synchronized (this) {
            if (unreached.contains(server.id())) {
                return false;
            }
        }
        return !owner.isConnected(server.id()) && Files.exists(server.socket());
    }

    /** Waits for the end of an attempt after the first {@code seen} ones; false if none is under way. */
    private synchronized boolean awaitAttempt(long seen, long deadline) {
        while (attempts == seen) {
            if (stopped || unreached.containsAll(tried)) {
                return false;
            }
            long left = deadline - System.nanoTime();
            if (left <= 0) {
                throw Balancer.searchedTooLong(spec);
            }
            try {
                // Rounded up, because wait(0) has no time limit.
                wait(TimeUnit.NANOSECONDS.toMillis(left) + 1);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw Status.Code.CANCELLED
                        .with(
                                "channel %s: interrupted while it looked for a server that has the method",
                                spec.channel())
                        .asException(e);
            }
        }
        return true;
    }

    /**
     * Connects to a living server that was not asked yet, on the calling thread.
     *
     * @param asked ids of servers that were asked; gets those of the others
     * @param end nanoTime
     * @return false if there is none
     */
    boolean connectToAnother(Set<String> asked, long end) {
        for (ServerInstance each : living(_ -> true)) {
            long left = end - System.nanoTime();
            if (left <= 0) {
                return false;
            }
            if (isCandidate(each) && asked.add(each.id())) {
                Duration bound = Duration.ofNanos(Math.min(left, CONNECT_BOUND.toNanos()));
                if (connect(each, bound.compareTo(LEAST_BOUND) < 0 ? LEAST_BOUND : bound)) {
                    return true;
                }
            }
        }
        return false;
    }

    /** Connects to a server within the bound and the channel's connect timeout; returns whether it is connected now. */
    private boolean connect(ServerInstance server, Duration bound) {
        ClientConnection connection;
        try {
            boolean isShort = spec.connectTimeout().compareTo(bound) < 0;
            connection = reach(isShort ? spec : spec.within(bound), server);
        } catch (RpcException e) {
            LOG.debug("channel {}: {} gets no calls yet", spec.channel(), server.socket(), e);
            refused(server, e);
            return false;
        }
        boolean adopted = false;
        try {
            adopted = owner.adopt(new HostServers.Reached(server, connection));
        } finally {
            if (!adopted) {
                connection.close();
            }
        }
        return adopted;
    }

    /** A server that has just made its socket listens a moment later. */
    private ClientConnection reach(ClientSpec within, ServerInstance server) {
        long begun = System.nanoTime();
        long longest = Math.min(STARTING_NANOS, within.connectTimeout().toNanos());
        while (true) {
            try {
                return HostServers.connect(within, server);
            } catch (RpcException e) {
                boolean isStarting =
                        e.getCause() instanceof OsException why && why.errno() == Errno.ECONNREFUSED && isAlive(server);
                boolean isOver = System.nanoTime() - begun >= longest
                        || isStopped()
                        || Thread.currentThread().isInterrupted();
                if (!isStarting || isOver) {
                    throw e;
                }
            }
            LockSupport.parkNanos(LISTEN_POLL_NANOS);
        }
    }

    private synchronized void refused(ServerInstance server, RpcException why) {
        if (Subchannel.isFinal(why)) {
            refusing.add(server.id());
        } else {
            later(RETRY_NANOS);
        }
    }

    // ---- servers that are not asked

    private synchronized boolean isCandidate(ServerInstance server) {
        return !unsuitable.contains(server.id()) && !refusing.contains(server.id());
    }

    /** The channel's stubs cannot call that server. If the reason need not last, it is tried again later. */
    void unsuitable(ServerInstance server, RpcException why) {
        if (!Subchannel.isFinal(why)) {
            LOG.debug("channel {}: {} gets no calls for now", spec.channel(), server.socket(), why);
            later(RETRY_NANOS);
            return;
        }
        boolean isNew;
        synchronized (this) {
            isNew = unsuitable.add(server.id());
        }
        if (isNew) {
            LOG.warn("the server at {} gets no calls: {}", server.socket(), why.getMessage());
        }
    }

    /** The ids of the servers that the channel's stubs cannot call. */
    synchronized Set<String> unsuitable() {
        return Set.copyOf(unsuitable);
    }

    /** How many servers a background thread connects to. */
    synchronized int tried() {
        return tried.size();
    }

    private synchronized boolean isStopped() {
        return stopped;
    }

    /** Connects to no more servers. The owner still gets its {@linkplain Owner#tick ticks}. Idempotent. */
    synchronized void stop() {
        stopped = true;
        notifyAll();
    }

    /** Connects to no more servers, and ends the ticks. Idempotent. */
    @Override
    public void close() {
        stop();
        FolderWatch started;
        synchronized (this) {
            closed = true;
            started = watch;
        }
        if (started != null) {
            started.close();
        }
    }
}
