package dev.rackcall.cp.server;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.LocalTenant;
import dev.rackcall.cp.session.SessionLayout;
import dev.rackcall.cp.session.SessionMessage;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.PeerCredentials;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.VerbsException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The agent's side of one session. Its thread replies to the tenant's rare requests, and cleans up when the socket
 * ends.
 */
final class AgentSession {
    /** What an agent process offers each tenant. */
    record Terms(Agent agent, SessionLayout layout, long maxBytes, int uid, Admission admission) {}

    private static final Logger LOG = LoggerFactory.getLogger(AgentSession.class);
    private static final Duration HELLO_TIME = Duration.ofSeconds(2);
    private static final Duration TURN = Duration.ofSeconds(1);
    private static final int MAX_NAME = 100;

    private final Terms terms;
    private final UnixSocket socket;
    private final AgentPump pump;
    private final Consumer<AgentSession> ended;
    private final PeerCredentials peer;
    private final Map<Integer, MemoryRegion> regions = new HashMap<>();
    private final CountDownLatch over = new CountDownLatch(1);
    private volatile Optional<SessionQueues> queues = Optional.empty();
    private volatile String name = "a tenant";
    private long sharedBytes;
    /** Used by the session's thread only, like {@link #sharedBytes}. */
    private boolean hasPlace;

    AgentSession(Terms terms, UnixSocket socket, AgentPump pump, Consumer<AgentSession> ended) {
        this.terms = terms;
        this.socket = socket;
        this.pump = pump;
        this.ended = ended;
        peer = socket.peer();
    }

    /** @param threads run it until it ends */
    void start(Executor threads) {
        threads.execute(this::run);
    }

    /** Whether it has been admitted. */
    boolean isTenant() {
        return queues.isPresent();
    }

    /** The queues in its memory, once it has been admitted. */
    Optional<SessionQueues> queues() {
        return queues;
    }

    /** Closes the socket, so that the session ends soon. */
    void end() {
        socket.close();
    }

    /** Waits until it has ended and cleaned up. */
    void join(Duration atMost) {
        try {
            if (!over.await(atMost.toNanos(), TimeUnit.NANOSECONDS)) {
                LOG.warn("{} has not ended in time; its thread keeps running", this);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        Thread.currentThread().setName("rackcall-agent-tenant-" + peer.pid());
        try {
            Optional<LocalTenant> tenant = admit();
            if (tenant.isPresent()) {
                serve(tenant.get());
            }
        } catch (OsException | IllegalStateException e) {
            LOG.debug("{} is gone: {}", this, e.getMessage());
        } catch (RuntimeException e) {
            LOG.warn("{} ends after a failure", this, e);
        } finally {
            leave();
        }
    }

    private void leave() {
        socket.close();
        pump.remove(this);
        try {
            queues.ifPresent(SessionQueues::close);
        } finally {
            if (hasPlace) {
                terms.admission().giveBack();
            }
            ended.accept(this);
            over.countDown();
        }
    }

    private Optional<LocalTenant> admit() {
        try {
            return handshake();
        } finally {
            terms.admission().heard();
        }
    }

    private Optional<LocalTenant> handshake() {
        Optional<Message> message = socket.receive(HELLO_TIME);
        if (message.isEmpty() || message.get().isEnd()) {
            return Optional.empty();
        }
        message.get().closeFds();
        SessionMessage hello;
        try {
            hello = SessionMessage.read(message.get().bytes());
            requireAdmissible(hello);
        } catch (IllegalArgumentException e) {
            refuse(0, Kind.REFUSED, String.valueOf(e.getMessage()));
            return Optional.empty();
        }
        hasPlace = terms.admission().takePlace();
        if (!hasPlace) {
            // A tenant that gets no reply tries the next agent.
            if (!terms.admission().isClosed()) {
                // Only after reading the hello: closing a socket with unread data resets it, and the peer would lose
                // the refusal.
                refuse(hello.number(), Kind.QUOTA_EXCEEDED, terms.admission().refusal());
            }
            return Optional.empty();
        }
        String asked = hello.text();
        // The name appears in logs and messages.
        name = asked.substring(0, Math.min(MAX_NAME, asked.length())).replaceAll("\\p{Cntrl}", "?");
        LocalTenant tenant = terms.agent().admit(name);
        SessionQueues made;
        try {
            made = new SessionQueues(tenant, terms.layout(), pump::wake, socket::ring);
        } catch (RuntimeException e) {
            tenant.close();
            refuse(hello.number(), Kind.QUOTA_EXCEEDED, "no memory for another tenant: " + e.getMessage());
            return Optional.empty();
        }
        queues = Optional.of(made);
        pump.add(this);
        SessionLayout layout = terms.layout();
        ByteBuffer body = SessionMessage.newBody();
        body.putInt(layout.entries()).putInt(layout.places()).putInt(layout.depth());
        body.putLong(terms.agent().host().value()).putInt(tenant.isHardware() ? 1 : 0);
        SessionMessage answer = SessionMessage.of(SessionMessage.ANSWER, hello.number(), body.flip());
        socket.send(answer.toBytes(), made.file().fd());
        LOG.debug("{} is admitted", this);
        return Optional.of(tenant);
    }

    private void requireAdmissible(SessionMessage hello) {
        if (peer.uid() != terms.uid()) {
            throw new IllegalArgumentException("this agent works for user " + terms.uid() + ", not for user "
                    + peer.uid() + "; run an agent as that user, with a RACKCALL_DIR of its own");
        }
        if (hello.version() != SessionLayout.VERSION) {
            throw new IllegalArgumentException("the agent speaks version " + SessionLayout.VERSION
                    + " of the protocol for tenants, process " + peer.pid() + " speaks version " + hello.version()
                    + "; update the older side");
        }
        if (hello.kind() != SessionMessage.HELLO) {
            throw new IllegalArgumentException("a tenant says hello first, not " + hello.kind());
        }
    }

    private void serve(LocalTenant tenant) {
        while (socket.isOpen()) {
            Optional<Message> message = socket.receive(TURN);
            if (message.isPresent()) {
                Message received = message.get();
                try {
                    if (received.isEnd()) {
                        return;
                    }
                    take(tenant, received);
                } finally {
                    received.closeFds();
                }
            }
        }
    }

    private void take(LocalTenant tenant, Message received) {
        if (received.bytes().length == 1) {
            pump.wake();
            return;
        }
        SessionMessage question;
        try {
            question = SessionMessage.read(received.bytes());
        } catch (IllegalArgumentException e) {
            refuse(0, Kind.REFUSED, String.valueOf(e.getMessage()));
            return;
        }
        try {
            ByteBuffer body = SessionMessage.newBody();
            switch (question.kind()) {
                case SessionMessage.REGISTER -> register(tenant, question.body().getInt(), received, body);
                case SessionMessage.DEREGISTER -> deregister(question.body().getInt());
                default ->
                    throw new ControlPlaneException(Kind.REFUSED, "an agent has no operation " + question.kind());
            }
            socket.send(SessionMessage.of(SessionMessage.ANSWER, question.number(), body.flip())
                    .toBytes());
        } catch (ControlPlaneException e) {
            refuse(question.number(), e.kind(), e.getMessage());
        } catch (OsException | VerbsException | IllegalArgumentException | BufferUnderflowException e) {
            refuse(question.number(), Kind.REFUSED, String.valueOf(e.getMessage()));
        }
    }

    private void register(LocalTenant tenant, int rightBits, Message received, ByteBuffer answer) {
        if (received.fds().length != 1) {
            throw new IllegalArgumentException("a region is registered with one file, not " + received.fds().length);
        }
        SharedFile file = received.adopt(0);
        MemoryRegion region;
        try {
            requireSafe(file);
            file.reserve(0, file.bytes());
            region = tenant.share(file, rights(rightBits));
        } catch (OsException e) {
            throw isWant(e)
                    ? new ControlPlaneException(
                            Kind.QUOTA_EXCEEDED,
                            "the agent has no memory for " + file.bytes() + " bytes more of tenant " + name
                                    + ", which shares " + sharedBytes + ": " + e.getMessage())
                    : e;
        } finally {
            file.close();
        }
        sharedBytes += region.byteSize();
        regions.put(region.localKey(), region);
        answer.putLong(region.address()).putLong(region.byteSize());
        answer.putInt(region.localKey()).putInt(region.remoteKey());
    }

    /** Whether the host or this process lacks resources; otherwise the file is the cause. */
    private static boolean isWant(OsException e) {
        return switch (e.errno()) {
            case Errno.ENOMEM, Errno.ENOSPC, Errno.EFBIG, Errno.EMFILE, Errno.ENFILE, Errno.EAGAIN -> true;
            default -> false;
        };
    }

    private void requireSafe(SharedFile file) {
        if (!file.isSealed()) {
            throw new IllegalArgumentException("the length of " + file
                    + " is not sealed: shrinking it would crash the agent; use SharedFile.memfd");
        }
        if (file.bytes() > terms.maxBytes() - sharedBytes) {
            throw new ControlPlaneException(
                    Kind.QUOTA_EXCEEDED,
                    "tenant " + name + " shares " + sharedBytes + " bytes and asks for " + file.bytes()
                            + " more; it may" + " share " + terms.maxBytes());
        }
    }

    private static Set<Access> rights(int bits) {
        EnumSet<Access> rights = EnumSet.noneOf(Access.class);
        for (Access access : Access.values()) {
            if ((bits & access.bit()) != 0) {
                rights.add(access);
            }
        }
        return rights;
    }

    private void deregister(int localKey) {
        Optional<MemoryRegion> region = Optional.ofNullable(regions.remove(localKey));
        if (region.isPresent()) {
            sharedBytes -= region.get().byteSize();
            region.get().close();
        }
    }

    private void refuse(long number, Kind kind, String text) {
        LOG.debug("{} is refused: {}", this, text);
        socket.send(SessionMessage.refusal(number, kind, text).toBytes());
    }

    @Override
    public String toString() {
        return name + " (process " + peer.pid() + ", user " + peer.uid() + ")";
    }
}
