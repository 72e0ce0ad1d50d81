package dev.rackcall.rpc.channel;

import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.balance.HostBalancer;
import dev.rackcall.rpc.balance.RoutedConnection;
import dev.rackcall.rpc.schema.Adaptation;
import dev.rackcall.rpc.shm.HostServers;
import dev.rackcall.rpc.shm.Transports;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.rpc.spi.Router;
import dev.rackcall.rpc.spi.ServiceDefinition;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A channel's connection, which is replaced when it has ended. One thread connects at a time. Other threads wait until
 * their own deadlines at most, and fail with the same error if that attempt fails. Thread-safe.
 */
final class ChannelConnection {
    private static final Logger LOG = LoggerFactory.getLogger(ChannelConnection.class);

    private static final String NO_SERVER_YET = "it has had no server since it was opened";

    private static final long WAIT_POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(20);

    private final ClientSpec spec;
    private final Optional<Router.Membership> membership;
    private final ReentrantLock connecting = new ReentrantLock();
    private volatile ClientConnection present;
    private volatile Failure lastFailure = new Failure(0, Optional.empty());
    private volatile boolean closed;
    /** Whether a thread connects now. */
    private volatile boolean trying;
    /** Whether the last attempt to connect failed. */
    private volatile boolean failedLast;

    private final StateChanges changes = new StateChanges(this::state);
    private final ConnectingCalls connectingCalls;

    /**
     * The servers on this host; null before the first connection, and for other channels. Guarded by {@link
     * #connecting}.
     */
    private HostBalancer hostServers;
    /** Former {@link #hostServers} that may still have calls in flight. */
    private final List<HostBalancer> retired = new CopyOnWriteArrayList<>();
    /** Former connections of other channels, whose servers drained. */
    private final List<ClientConnection> left = new CopyOnWriteArrayList<>();

    /** The latest connections as the stubs of each definition use them. */
    private final Map<ServiceDefinition<?>, View> views = new ConcurrentHashMap<>();

    /** What {@link Adaptation#adapt} made of a connection. */
    private record View(ClientConnection of, ClientConnection adapted) {}

    /** The latest failed attempt; {@code number} counts all failed attempts, and is 0 before the first. */
    private record Failure(long number, Optional<Status> status) {}

    /** Connects when it is first used. */
    ChannelConnection(ClientSpec spec, Optional<Router.Membership> membership) {
        this.spec = spec;
        this.membership = membership;
        this.connectingCalls = new ConnectingCalls(spec);
        this.present = new Unconnected(spec.channel());
    }

    /**
     * Connects now, for the first time, within the channel's connect timeout.
     *
     * @param waitForReady how long to retry while no server of the channel takes clients
     */
    void connect(Duration waitForReady) {
        connecting.lock();
        try {
            adopt(connectWithin(waitForReady));
        } finally {
            connecting.unlock();
        }
    }

    private ClientConnection connectWithin(Duration waitForReady) {
        long end = System.nanoTime() + waitForReady.toNanos();
        while (true) {
            try {
                return connect(spec);
            } catch (RpcException e) {
                boolean mayCome = e.code() == Status.Code.NOT_FOUND || e.code() == Status.Code.UNAVAILABLE;
                if (!mayCome || System.nanoTime() - end >= 0) {
                    throw e;
                }
                if (Thread.currentThread().isInterrupted()) {
                    throw Status.Code.CANCELLED
                            .with(
                                    "channel %s: interrupted while it waited for a server: %s",
                                    spec.channel(), e.status().description())
                            .asException(e);
                }
            }
            LockSupport.parkNanos(Math.min(WAIT_POLL_NANOS, Math.max(1, end - System.nanoTime())));
        }
    }

    private ClientConnection connect(ClientSpec within) {
        if (membership.isPresent()) {
            return Router.get().connect(within, membership.get());
        }
        boolean isHere = within.address().isEmpty() && within.pool().isEmpty();
        return isHere ? connectHere(within) : Transports.connect(within);
    }

    /**
     * Connects to a server of this host. If the new server has the same interface, the existing connection continues
     * with it.
     */
    private ClientConnection connectHere(ClientSpec within) {
        HostBalancer former = hostServers;
        HostServers.Reached reached = HostServers.connectAny(within, former == null ? Set.of() : former.unsuitable());
        try {
            if (former != null
                    && former.adopt(
                            reached, System.nanoTime() + within.connectTimeout().toNanos())) {
                return present;
            }
            if (former != null && former.isUsable()) {
                // Another thread has just connected to a server that the stubs can call.
                reached.connection().close();
                return present;
            }
            hostServers = new HostBalancer(spec, reached, this::usable);
        } catch (RuntimeException | Error e) {
            reached.connection().close();
            throw e;
        }
        if (former != null) {
            retired.removeIf(HostBalancer::isOver);
            retired.add(former);
            former.retire();
        }
        return new RoutedConnection(hostServers);
    }

    private void adopt(ClientConnection connection) {
        present = connection;
        connection.onUnusable(changes::update);
        changes.update();
    }

    /** What the channel does now. */
    RpcChannel.State state() {
        ClientConnection now = present;
        if (closed) {
            return RpcChannel.State.CLOSED;
        } else if (now != null && now.isReady()) {
            return RpcChannel.State.READY;
        } else if (trying) {
            return RpcChannel.State.CONNECTING;
        }
        // A connection that is usable without a server looks for one by itself.
        boolean failed = failedLast || (now != null && now.isUsable());
        return failed ? RpcChannel.State.TRANSIENT_FAILURE : RpcChannel.State.IDLE;
    }

    StateChanges changes() {
        return changes;
    }

    /** The current connection, usable or not; the fast path checks its state. */
    ClientConnection present() {
        return present;
    }

    /**
     * The connection as the stubs of that definition use it. Versions are compared once for all of these stubs.
     *
     * @param deadline nanoTime until which it may wait for the server; 0: for the channel's connect timeout
     * @throws RpcException FAILED_PRECONDITION if they cannot call the version of its server, DEADLINE_EXCEEDED if it
     *     does not answer in time
     */
    ClientConnection adapted(ServiceDefinition<?> definition, ClientConnection connection, long deadline) {
        View known = views.get(definition);
        if (known == null || known.of != connection) {
            long longest = System.nanoTime() + spec.connectTimeout().toNanos();
            long end = StubCalls.earlier(deadline, longest);
            known = new View(connection, Adaptation.adapt(definition, connection, spec.channel(), end));
            views.put(definition, known);
        }
        return known.adapted;
    }

    /** A usable connection, within the channel's default timeout. */
    ClientConnection usable() {
        return usable(0);
    }

    /**
     * A usable connection: the current one, or a new one if the current one has ended.
     *
     * @param deadline nanoTime; 0 for the channel's default timeout
     * @throws RpcException UNAVAILABLE if the server does not answer, DEADLINE_EXCEEDED if the deadline passes first,
     *     CANCELLED if the channel was closed
     */
    ClientConnection usable(long deadline) {
        ClientConnection now = present;
        return now.isUsable() ? now : anew(orDefault(deadline));
    }

    /** Returns the deadline, a nanoTime; if it is 0, the default deadline of a call that begins now. */
    long orDefault(long deadline) {
        return deadline != 0
                ? deadline
                : System.nanoTime() + spec.defaultTimeout().toNanos();
    }

    boolean isClosed() {
        return closed;
    }

    /**
     * Throws if a call may not wait longer for a server.
     *
     * @param deadline nanoTime
     * @throws RpcException DEADLINE_EXCEEDED if it has passed, CANCELLED if the thread was interrupted
     */
    void requireTime(MethodDescriptor method, long deadline, RpcException why) {
        if (Thread.currentThread().isInterrupted()) {
            throw Status.Code.CANCELLED
                    .with(
                            "%s: interrupted while it waited for a server: %s",
                            method, why.status().description())
                    .asException(why);
        }
        if (deadline - System.nanoTime() <= 0) {
            throw late().asException(why);
        }
    }

    /** Whether asynchronous calls wait for a server. */
    boolean hasQueued() {
        return !connectingCalls.isEmpty();
    }

    /**
     * Whether an asynchronous call that begins now has to wait: for a server, or behind calls that do.
     *
     * @throws RpcException CANCELLED if the channel was closed
     */
    boolean queues(ClientConnection connection) {
        if (connectingCalls.isEmpty() && connection.isReady()) {
            return false;
        }
        requireOpen();
        return true;
    }

    /** The asynchronous calls that wait for a server. */
    ConnectingCalls connectingCalls() {
        return connectingCalls;
    }

    /** As {@link ClientConnection#release}, for a result of any of the channel's connections. */
    boolean release(Object result) {
        return present.release(result)
                || retired.stream().anyMatch(each -> each.release(result))
                || left.stream().anyMatch(each -> each.release(result));
    }

    private ClientConnection anew(long deadline) {
        Failure before = lastFailure;
        lockUntil(deadline);
        try {
            requireOpen();
            ClientConnection ended = present;
            if (ended.isUsable()) {
                return ended;
            }
            Failure since = lastFailure;
            if (since.number != before.number) {
                throw since.status.orElseThrow().asException();
            }
            adopt(tryToConnect(deadline));
            if (present != ended && hostServers == null) {
                leave(ended);
            }
            if (closed) {
                // close() sets `closed` first and may have closed only the previous connection.
                closeAll();
            }
            requireOpen();
            return present;
        } finally {
            connecting.unlock();
        }
    }

    /** Keeps the connection for its calls in flight; the draining server closes it when they have ended. */
    private void leave(ClientConnection former) {
        left.removeIf(ClientConnection::hasEnded);
        if (former.hasEnded()) {
            former.close();
        } else {
            left.add(former);
        }
    }

    private ClientConnection tryToConnect(long deadline) {
        trying = true;
        changes.update();
        boolean connected = false;
        try {
            ClientConnection connection = attempt(deadline);
            connected = true;
            return connection;
        } finally {
            failedLast = !connected;
            trying = false;
            if (!connected) {
                changes.update();
            }
        }
    }

    private ClientConnection attempt(long deadline) {
        long left = deadline - System.nanoTime();
        if (left <= 0) {
            throw late().asException();
        }
        boolean hasTime = left >= spec.connectTimeout().toNanos();
        try {
            return connect(hasTime ? spec : spec.within(Duration.ofNanos(left)));
        } catch (RpcException e) {
            requireOpen();
            if (!hasTime && deadline - System.nanoTime() <= 0) {
                throw late().asException(e);
            }
            Status status = afterwards(e.status());
            if (hasTime && status.code() != Status.Code.CANCELLED) {
                // Threads with more time must not fail with this error, nor those that were not interrupted.
                lastFailure = new Failure(lastFailure.number + 1, Optional.of(status));
            }
            throw status.asException(e);
        }
    }

    /** A channel that was served before has the right name. A lazy channel may be opened before its server starts. */
    private Status afterwards(Status status) {
        String before = isConnectedOnce() ? "its server is gone and has not come back" : NO_SERVER_YET;
        return status.code() == Status.Code.NOT_FOUND
                ? Status.Code.UNAVAILABLE.with("channel %s: %s: %s", spec.channel(), before, status.description())
                : status;
    }

    private void lockUntil(long deadline) {
        try {
            if (connecting.tryLock()
                    || connecting.tryLock(Math.max(0, deadline - System.nanoTime()), TimeUnit.NANOSECONDS)) {
                return;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Status.Code.CANCELLED
                    .with("channel %s: interrupted while another thread reconnected", spec.channel())
                    .asException(e);
        }
        throw late().asException();
    }

    private Status late() {
        return Status.Code.DEADLINE_EXCEEDED.with(
                "channel %s: %s, and the call's deadline passed before there was a connection",
                spec.channel(), isConnectedOnce() ? "its server is gone" : NO_SERVER_YET);
    }

    private boolean isConnectedOnce() {
        return !(present instanceof Unconnected);
    }

    private void requireOpen() {
        if (closed) {
            throw spec.closedHere().asException();
        }
    }

    /** Closes the connection without waiting for a thread that is connecting. Idempotent. */
    void close() {
        // Counted first: once it is closed, the thread that connects also ends them.
        long lost = connectingCalls.oneWay();
        closed = true;
        closeAll();
        connectingCalls.endAll(spec.closedHere());
        if (lost > 0) {
            LOG.warn(
                    "channel {}: {} one-way calls are lost, because the channel was closed while it had no server",
                    spec.channel(),
                    lost);
        }
        changes.update();
    }

    private void closeAll() {
        present.close();
        retired.forEach(HostBalancer::close);
        left.forEach(ClientConnection::close);
    }
}
