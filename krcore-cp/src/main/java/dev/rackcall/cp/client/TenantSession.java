package dev.rackcall.cp.client;

import dev.rackcall.cp.ControlAddress;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.MessagePort;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.cp.session.EntryRing;
import dev.rackcall.cp.session.SessionLayout;
import dev.rackcall.cp.session.SessionMessage;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.os.socket.Message;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The tenant's side of a session with one life of the agent process. {@link AgentHandshake} begins it.
 * {@link SessionRequests} use its socket; queues and ports live in its {@link Places} in {@link SessionMemory}. A
 * thread listens to the agent and notices its death. Any thread may use it.
 */
final class TenantSession implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(TenantSession.class);
    private static final Duration TURN = Duration.ofSeconds(1);

    private final UnixSocket socket;
    // Its queues, ports and regions use these parts.
    final AgentLife life;
    final SessionMemory memory;
    final EntryRing ring;
    final Places places;
    final SessionRequests questions;
    private final HostId host;
    private final boolean hardware;
    /** Callbacks that run when a message has arrived. */
    private final List<Runnable> arrivals = new CopyOnWriteArrayList<>();

    private TenantSession(UnixSocket socket, SessionMemory memory, HostId host, boolean hardware) {
        this.socket = socket;
        this.memory = memory;
        this.host = host;
        this.hardware = hardware;
        life = new AgentLife(socket.peer().pid());
        ring = new EntryRing(memory.segment(), memory.layout());
        places = new Places(memory, ring, socket, life);
        questions = new SessionRequests(socket, life);
    }

    /**
     * The session that an agent has accepted; a thread must then {@link #listen}.
     *
     * @param socket owned by the session from now on
     * @param terms from the agent's reply
     * @param file the session's memory
     */
    static TenantSession of(UnixSocket socket, ByteBuffer terms, SharedFile file) {
        SessionLayout layout = new SessionLayout(terms.getInt(), terms.getInt(), terms.getInt());
        HostId host = new HostId(terms.getLong());
        boolean isHardware = terms.getInt() != 0;
        return new TenantSession(socket, new SessionMemory(layout, file), host, isHardware);
    }

    /** Listens to the agent until the session ends. */
    void listen() {
        Thread.currentThread().setName("rackcall-agent-" + life.pid());
        try {
            while (!life.isOver() && !hasEnded(socket.receive(TURN))) {
                questions.goOn();
                places.goOn();
            }
        } catch (OsException | IllegalStateException | IllegalArgumentException gone) {
            LOG.debug("the session with the agent process {} ends: {}", life.pid(), gone.getMessage());
        } finally {
            die();
            // Receivers then find out about the end.
            tell();
        }
    }

    private boolean hasEnded(Optional<Message> message) {
        message.ifPresent(Message::closeFds);
        boolean isEnd = message.isPresent() && message.get().isEnd();
        if (message.isPresent() && !isEnd) {
            hear(message.get().bytes());
        }
        return isEnd;
    }

    private void hear(byte[] bytes) {
        if (bytes.length == 1) {
            tell();
        } else {
            questions.heard(SessionMessage.read(bytes));
        }
    }

    /** Ends the session; all pending requests fail. */
    private void die() {
        life.end();
        socket.close();
        questions.end();
    }

    /** Runs the callbacks, since a message has arrived for one of them. */
    private void tell() {
        for (Runnable arrival : arrivals) {
            try {
                arrival.run();
            } catch (RuntimeException | Error e) {
                LOG.warn("a callback for messages failed; the session continues", e);
            }
        }
    }

    /** Removes a callback. */
    void forget(Runnable arrival) {
        arrivals.remove(arrival);
    }

    /** Whether the agent has died, or this session was closed. */
    boolean isDead() {
        return life.isOver();
    }

    /** The agent's host. */
    HostId host() {
        return host;
    }

    /** Whether the agent's device is hardware. */
    boolean isHardware() {
        return hardware;
    }

    VirtualQueue connect(HostId host, Optional<ControlAddress> address, Patience patience) {
        return queue(ask(host, address, patience), host, patience);
    }

    /** Connects all hosts, or none. The agent gets all entries before the first wait. */
    List<VirtualQueue> connect(List<HostId> hosts, Patience patience) {
        List<VirtualQueue> made = new ArrayList<>(hosts.size());
        Deque<Places.Asked> open = new ArrayDeque<>();
        try {
            for (HostId host : hosts) {
                open.add(ask(host, Optional.empty(), patience));
            }
            for (HostId host : hosts) {
                made.add(queue(open.poll(), host, patience));
            }
        } catch (RuntimeException e) {
            // In request order, so that each place is open or refused when its CLOSE is taken.
            open.forEach(asked -> places.close(asked.place()));
            made.forEach(VirtualQueue::close);
            throw e;
        }
        return List.copyOf(made);
    }

    private Places.Asked ask(HostId host, Optional<ControlAddress> address, Patience patience) {
        return places.ask((at, id) -> ring.connect(at, id, host, address), patience);
    }

    private VirtualQueue queue(Places.Asked asked, HostId host, Patience patience) {
        ForeignQueue queue = new ForeignQueue(this, places.awaitOpen(asked, patience), host);
        return keep(queue, queue::close);
    }

    /** @param arrival runs when a message has arrived, and when the agent has ended */
    MessagePort bind(int number, Optional<Runnable> arrival, Patience patience) {
        // Before the agent binds the port, so that no arrival is missed.
        arrival.ifPresent(arrivals::add);
        try {
            Places.Asked asked = places.ask((at, id) -> ring.bind(at, id, number, arrival.isPresent()), patience);
            ForeignPort port = new ForeignPort(this, places.awaitOpen(asked, patience), number, arrival);
            return keep(port, port::close);
        } catch (RuntimeException e) {
            arrival.ifPresent(this::forget);
            throw e;
        }
    }

    private <T> T keep(T user, Runnable close) {
        if (!memory.enter(user, close)) {
            throw life.ended();
        }
        return user;
    }

    /** Sends an empty entry and waits for its reply; returns false if that takes longer. */
    boolean ping(Patience patience) {
        return places.ping(patience);
    }

    /** Ends the session. The memory stays mapped until its queues and ports, which fail now, are closed. */
    @Override
    public void close() {
        die();
        memory.release();
    }

    /** Ends the session and closes its queues and ports. */
    void closeWithQueues() {
        close();
        memory.closeUsers();
    }
}
