package dev.rackcall.cp.server;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.session.CachedPlatformThreads;
import dev.rackcall.cp.session.SessionFiles;
import dev.rackcall.cp.session.SessionLayout;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.Uid;
import dev.rackcall.shm.os.file.OwnerLock;
import dev.rackcall.shm.os.socket.EventPoll;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets other processes of this user and host use an agent. A process connects to a Unix socket in a folder and then
 * uses shared memory. {@code ./rackcall agent} runs such a server; tenants join it by {@code AgentFolder.join}. Any
 * thread may use it.
 *
 * <p>A tenant whose process ends loses its queues and regions within about a second. There are at most 256 tenants; a
 * further process waits 2 s for a place and is then refused. If this process is killed, the kernel notifies all tenants
 * at once, and they join the next agent in the same folder.
 */
public final class AgentServer implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AgentServer.class);
    private static final int BACKLOG = 64;
    private static final int RING_ENTRIES = 256;
    /** Memory that one tenant may share. */
    private static final long MAX_BYTES = 64L << 30;

    private static final long ACCEPT_NANOS = 500_000_000;
    private static final Duration END_TIME = Duration.ofSeconds(5);

    private final AgentSession.Terms terms;
    private final OwnerLock owner;
    private final UnixSocket socket;
    private final EventPoll poll = EventPoll.create();
    private final AgentPump pump;
    private final ExecutorService threads = CachedPlatformThreads.create("rackcall-agent-tenant");
    private final Set<AgentSession> sessions = ConcurrentHashMap.newKeySet();
    private final Thread acceptor;
    private final CountDownLatch failure = new CountDownLatch(1);
    private volatile boolean closed;

    private AgentServer(AgentSession.Terms terms, OwnerLock owner, UnixSocket socket, BooleanSupplier device) {
        this.terms = terms;
        this.owner = owner;
        this.socket = socket;
        pump = new AgentPump(device, terms.agent()::rest, this::fail);
        acceptor = Thread.ofPlatform().daemon().name("rackcall-agent-door").unstarted(this::accept);
    }

    /**
     * Starts admitting tenants. The caller still owns the agent, and closes it after the server.
     *
     * @param folder an existing folder that only this user can write
     * @throws ControlPlaneException REFUSED if another agent has this folder
     */
    public static AgentServer open(Agent agent, Path folder) {
        return open(agent, folder, Uid.current(), MAX_BYTES);
    }

    static AgentServer open(Agent agent, Path folder, Admission admission) {
        return open(agent, folder, Uid.current(), MAX_BYTES, admission, agent::poll);
    }

    static AgentServer open(Agent agent, Path folder, BooleanSupplier device) {
        return open(agent, folder, Uid.current(), MAX_BYTES, Admission.usual(), device);
    }

    static AgentServer open(Agent agent, Path folder, int uid, long maxBytes) {
        return open(agent, folder, uid, maxBytes, Admission.usual(), agent::poll);
    }

    private static AgentServer open(
            Agent agent, Path folder, int uid, long maxBytes, Admission admission, BooleanSupplier device) {
        Path owned = SessionFiles.ownerIn(folder);
        OwnerLock owner = OwnerLock.tryAcquire(owned)
                .orElseThrow(() -> new ControlPlaneException(
                        Kind.REFUSED,
                        "another agent works for " + folder + " (" + text(owned)
                                + "); use it, end it, or choose another folder"));
        try {
            Path path = SessionFiles.socketIn(folder);
            // The former agent was killed: this process has the lock, so the socket is stale.
            Files.deleteIfExists(path);
            UnixSocket socket = UnixSocket.listen(path, BACKLOG);
            AgentOptions.Quota limits = agent.options().quota();
            SessionLayout layout = new SessionLayout(RING_ENTRIES, limits.queues(), limits.queueDepth());
            AgentSession.Terms terms = new AgentSession.Terms(agent, layout, maxBytes, uid, admission);
            AgentServer server = new AgentServer(terms, owner, socket, device);
            server.poll.add(socket.fd(), 0);
            server.pump.start();
            server.acceptor.start();
            return server;
        } catch (IOException e) {
            owner.close();
            throw new UncheckedIOException("the socket of a former agent in " + folder + " cannot be removed", e);
        } catch (RuntimeException e) {
            owner.close();
            throw e;
        }
    }

    private static String text(Path path) {
        try {
            return Files.readString(path).strip();
        } catch (IOException e) {
            return "it has just left";
        }
    }

    /** Tenants in other processes, now. */
    public int tenants() {
        return (int) sessions.stream().filter(AgentSession::isTenant).count();
    }

    /**
     * Waits until the agent's device has failed, at most this long; returns whether it has. The failure ends all
     * sessions and admissions. The caller should then close the server, so that another agent can use the folder.
     */
    public boolean awaitFailure(Duration atMost) throws InterruptedException {
        return failure.await(atMost.toNanos(), TimeUnit.NANOSECONDS);
    }

    /** Ends all sessions after the pump has failed, on the pump's thread. */
    private void fail() {
        closed = true;
        socket.close();
        poll.wakeUp();
        terms.admission().close();
        sessions.forEach(AgentSession::end);
        failure.countDown();
    }

    private void accept() {
        while (!closed) {
            poll.await(ACCEPT_NANOS);
            try {
                admitThoseAtTheDoor();
            } catch (OsException e) {
                LOG.warn("no tenant can be admitted now: {}", e.getMessage());
                // Pending connections would make this a busy loop.
                LockSupport.parkNanos(ACCEPT_NANOS);
            } catch (IllegalStateException e) {
                LOG.debug("no more tenants are admitted: {}", e.getMessage());
                return;
            }
        }
    }

    /** Admits as many newcomers as are allowed and waiting. */
    private void admitThoseAtTheDoor() {
        while (!closed && terms.admission().mayCome(ACCEPT_NANOS)) {
            boolean isOneMore = false;
            try {
                Optional<UnixSocket> next = socket.accept();
                isOneMore = next.isPresent() && admit(next.get());
                if (next.isEmpty()) {
                    return;
                }
            } finally {
                if (!isOneMore) {
                    terms.admission().heard();
                }
            }
        }
    }

    /** Starts a session; returns whether it did. */
    private boolean admit(UnixSocket tenant) {
        AgentSession session;
        try {
            session = new AgentSession(terms, tenant, pump, sessions::remove);
        } catch (OsException e) {
            LOG.debug("a tenant is gone before it was admitted: {}", e.getMessage());
            tenant.close();
            return false;
        }
        sessions.add(session);
        session.start(threads);
        // Added before this read of the flag, which close sets before it ends all sessions in the set: none is missed.
        if (closed) {
            session.end();
        }
        return true;
    }

    /** Ends all sessions; their tenants are notified at once. */
    @Override
    public void close() {
        closed = true;
        socket.close();
        poll.wakeUp();
        terms.admission().close();
        try {
            if (!acceptor.join(END_TIME)) {
                LOG.warn("the thread that admits tenants has not ended in {} s", END_TIME.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        sessions.forEach(AgentSession::end);
        long end = System.nanoTime() + END_TIME.toNanos();
        // The bound is for all sessions together.
        sessions.forEach(session -> session.join(Duration.ofNanos(Math.max(1, end - System.nanoTime()))));
        threads.shutdown();
        pump.close();
        poll.close();
        owner.close();
    }
}
