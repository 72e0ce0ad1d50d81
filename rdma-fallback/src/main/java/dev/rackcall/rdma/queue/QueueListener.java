package dev.rackcall.rdma.queue;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.rdma.RdmaSettings;
import dev.rackcall.rdma.end.ForeignPeerException;
import dev.rackcall.rdma.end.PeerMemory;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.CarrierProvider;
import dev.rackcall.rpc.spi.CarrierProvider.Answer;
import dev.rackcall.rpc.spi.CarrierProvider.Inspection;
import dev.rackcall.rpc.spi.CarrierProvider.Reception;
import dev.rackcall.rpc.spi.CarrierProvider.Seat;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A port where clients send their hellos, with a virtual thread for each client that is not connected yet. If the agent
 * process ends, it listens again at the next one.
 */
final class QueueListener implements CarrierProvider.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(QueueListener.class);
    private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
    /** The pause between two attempts to listen again. Each attempt also waits for an agent. */
    private static final long AGAIN_MILLIS = 500;
    /** The minimum time between two log lines about failed attempts. */
    private static final long SAY_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** Where it listens during one life of the agent. */
    private record Place(QueueHub hub, QueueInbox inbox) {
        /** Owns a use of the hub. */
        static Place open(Tenant tenant, int port) {
            QueueHub hub = QueueHub.of(tenant);
            try {
                return new Place(hub, QueueInbox.bind(tenant, port, hub::wake));
            } catch (RuntimeException | Error e) {
                hub.release();
                throw e;
            }
        }

        void close() {
            inbox.close();
            hub.release();
        }
    }

    private final Tenant tenant;
    private final URI address;
    private final Reception reception;
    private final QueueGuests guests = new QueueGuests();
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Object taking = new Object();
    /** Empty while there is no agent, and after closing. Guarded by taking. */
    private Optional<Place> place;
    /** The last thread that tries to listen again. Guarded by taking. */
    private Optional<Thread> again = Optional.empty();

    /**
     * Binds the port.
     *
     * @throws ControlPlaneException if the port is taken
     */
    QueueListener(Tenant tenant, URI wanted, Reception reception) {
        this.tenant = tenant;
        this.reception = reception;
        Place first = Place.open(tenant, wanted.getPort());
        place = Optional.of(first);
        address = URI.create(QueueCarriers.SCHEME + "://" + wanted.getHost() + ":"
                + first.inbox().number());
        first.hub().add(this);
    }

    @Override
    public URI address() {
        return address;
    }

    /** Takes hellos if there is room for a full batch. Called only on the hub's thread. */
    int take() {
        // Not while the inbox is being closed: a message could go into memory that is already unmapped.
        synchronized (taking) {
            if (place.isEmpty() || !guests.hasRoom(QueueInbox.PIECES)) {
                return 0;
            }
            Place now = place.get();
            return now.inbox().take((from, bytes) -> admit(now.hub(), from, bytes));
        }
    }

    /** Whether the hub's thread must check soon without a wake-up: for memory for hellos, or for guests to evict. */
    boolean isBlocked() {
        synchronized (taking) {
            return place.isPresent() && (place.get().inbox().isDry() || guests.isFull());
        }
    }

    private void admit(QueueHub hub, HostId from, ByteBuffer bytes) {
        try {
            QueueMessage message = QueueMessage.read(bytes);
            if (message.kind() != QueueMessage.HELLO) {
                throw new ForeignPeerException("it says a message of kind " + message.kind() + " where hello is due");
            }
            QueueHello client = QueueHello.read(bytes);
            start(hub, from, client);
        } catch (ForeignPeerException e) {
            QueueHub.turnedAway(from, e.getMessage());
        }
    }

    private void start(QueueHub hub, HostId from, QueueHello client) {
        QueueGuests.Guest guest = guests.admit(from);
        try {
            Thread.ofVirtual().name("rackcall-queue-guest").start(() -> {
                try {
                    greet(hub, from, client, guest);
                } catch (ForeignPeerException e) {
                    turnAway(hub, from, client, guest, 0, e.getMessage());
                } catch (ControlPlaneException | VerbsException e) {
                    turnAway(hub, from, client, guest, Farewell.value(e), e.getMessage());
                } catch (RuntimeException | Error e) {
                    turnAway(hub, from, client, guest, 0, e.toString());
                } finally {
                    guest.leaves();
                    // Hellos that wait at the port were already reported.
                    hub.wake();
                }
            });
        } catch (RuntimeException | Error e) {
            guest.leaves();
            throw e;
        }
    }

    private void greet(QueueHub hub, HostId from, QueueHello client, QueueGuests.Guest guest)
            throws ForeignPeerException {
        // A certificate belongs to an agent, not to its tenants.
        Inspection inspection = reception.inspect(client.hello().packet(), Set.of());
        if (inspection.refusal().isPresent()) {
            refuse(hub, from, client, guest, inspection.refusal().get());
            return;
        }
        requireMemory(hub, from, client, guest);
        Answer answer = reception.greet(client.hello().packet());
        if (answer.seat().isEmpty()) {
            refuse(hub, from, client, guest, answer.welcome());
        } else {
            seat(hub, from, client, guest, answer);
        }
    }

    /**
     * Checks that the client's process has the memory that its hello names, before any is reserved for it. The word
     * that this writes is a beat.
     */
    private static void requireMemory(QueueHub hub, HostId from, QueueHello client, QueueGuests.Guest guest)
            throws ForeignPeerException {
        PeerMemory memory = client.hello().memory();
        PeerMemory words = client.words();
        WorkRequest touch = WorkRequest.create(1, Long.BYTES)
                .write(memory.at(memory.bytes(), 0), memory.key())
                .inline(MemorySegment.NULL, 0, 0);
        WorkRequest beat = WorkRequest.create(1, Long.BYTES)
                .write(words.at(QueueEnd.BEAT, Long.BYTES), words.key())
                .inline(System.nanoTime())
                .signaled();
        guest.await();
        try (VirtualQueue queue = hub.connect(from)) {
            if (!push(queue, touch, guest) || !push(queue, beat, guest) || !isDone(queue, guest)) {
                guest.requirePlace();
                throw new ForeignPeerException("it does not let this server write to the memory that it names"
                        + queue.failure().map(why -> ": " + why).orElse(""));
            }
        } finally {
            guest.goesOn();
        }
    }

    private void seat(QueueHub hub, HostId from, QueueHello client, QueueGuests.Guest guest, Answer answer)
            throws ForeignPeerException {
        Seat seat = answer.seat().orElseThrow();
        QueueCarrier carrier = null;
        try {
            client.hello().requireRoom(seat.memory().mapped().byteSize());
            carrier = carrier(hub, from, client, guest, answer);
            meet(carrier, client, guest, answer.welcome());
        } catch (ForeignPeerException | RuntimeException | Error e) {
            if (carrier != null) {
                carrier.close();
            }
            seat.leave();
            throw e;
        }
        seat.take(carrier);
    }

    /** Opens this end, or tells the client why it cannot. */
    private QueueCarrier carrier(QueueHub hub, HostId from, QueueHello client, QueueGuests.Guest guest, Answer answer) {
        Seat seat = answer.seat().orElseThrow();
        try {
            return QueueCarrier.open(
                    hub.tenant(), seat.memory(), answer.welcome().remaining(), from, client.port());
        } catch (ControlPlaneException | VerbsException e) {
            Status why =
                    QueueCarriers.code(e).with("no connection over virtual queues at the server: %s", e.getMessage());
            refuse(hub, from, client, guest, reception.refusal(why));
            throw e;
        }
    }

    /** Checks that the client takes the server's hello. */
    private static void meet(QueueCarrier carrier, QueueHello client, QueueGuests.Guest guest, ByteBuffer welcome)
            throws ForeignPeerException {
        Duration timeout = RdmaSettings.helloTimeout();
        carrier.connect(client, client.hello().clock() - System.nanoTime());
        carrier.sendHello(QueueMessage.SERVER_HELLO, client.number(), welcome);
        guest.await();
        try {
            if (!within(() -> carrier.isHeard() || carrier.hasEnded(), guest)) {
                guest.requirePlace();
                throw new ForeignPeerException("it does not take the server's hello within " + timeout);
            }
        } finally {
            guest.goesOn();
        }
        if (!carrier.isHeard()) {
            throw new ForeignPeerException("it does not take the server's hello: " + carrier.whyEnded());
        }
    }

    // ---- another agent

    /** The hub has lost its port. Its connections end, and their clients connect again. Runs on the hub's thread. */
    void lost(QueueHub which, String why) {
        Optional<Thread> next;
        synchronized (taking) {
            if (place.isEmpty() || place.get().hub() != which) {
                return;
            }
            Place last = place.get();
            place = Optional.empty();
            last.hub().remove(this);
            last.close();
            next = tenant.isClosed()
                    ? Optional.empty()
                    : Optional.of(
                            Thread.ofVirtual().name("rackcall-queue-listener").unstarted(this::listenAgain));
            again = next;
        }
        if (next.isEmpty()) {
            sayThatItIsOver(why);
        } else {
            LOG.warn("the server does not listen at {} until there is an agent again: {}", address, why);
            next.get().start();
        }
    }

    private void sayThatItIsOver(String why) {
        LOG.warn("the server no longer listens at {}, since its tenant was closed: {}", address, why);
    }

    private void listenAgain() {
        long said = System.nanoTime() - SAY_NANOS;
        boolean goesOn = true;
        while (goesOn) {
            try {
                Place next = Place.open(tenant, address.getPort());
                goesOn = false;
                listenAt(next);
            } catch (RuntimeException | Error e) {
                // The end of the agent was logged when it ended.
                if (!isForWantOfAnAgent(e) && !tenant.isClosed() && System.nanoTime() - said >= SAY_NANOS) {
                    said = System.nanoTime();
                    LOG.warn("the server cannot listen at {} again and keeps trying: {}", address, e.toString());
                }
                goesOn = waitALittle();
                // A new agent does not help: the tenant is closed.
                if (goesOn && tenant.isClosed()) {
                    sayThatItIsOver(e.toString());
                    goesOn = false;
                }
            }
        }
    }

    private static boolean isForWantOfAnAgent(Throwable e) {
        return e instanceof ControlPlaneException missing && missing.kind() == ControlPlaneException.Kind.UNREACHABLE;
    }

    /** Whether hellos arrive. */
    boolean isListening() {
        synchronized (taking) {
            return place.isPresent();
        }
    }

    /** Whether a thread tries to listen again. */
    boolean isTrying() {
        synchronized (taking) {
            return again.filter(thread -> thread.getState() != Thread.State.TERMINATED)
                    .isPresent();
        }
    }

    private void listenAt(Place next) {
        synchronized (taking) {
            if (closed.getCount() > 0) {
                place = Optional.of(next);
                next.hub().add(this);
                LOG.info("the server listens at {} again", address);
                return;
            }
        }
        next.close();
    }

    /** Returns whether to continue. */
    private boolean waitALittle() {
        try {
            return !closed.await(AGAIN_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException("no thread interrupts it", e);
        }
    }

    /** Tells a client, which waits for an answer, that its handshake failed. */
    private static void turnAway(
            QueueHub hub, HostId from, QueueHello client, QueueGuests.Guest guest, long farewell, String why) {
        QueueHub.turnedAway(from, why);
        try {
            MemorySegment bytes = Arena.ofAuto().allocate(QueueMessage.BYTES);
            new QueueMessage(QueueMessage.BYE, client.number(), farewell).write(bytes.asByteBuffer());
            // Inline, since there may be no region left.
            say(
                    hub,
                    from,
                    guest,
                    WorkRequest.create(1, QueueMessage.BYTES)
                            .sendWithImmediate(client.port())
                            .inline(bytes, 0, QueueMessage.BYTES));
        } catch (ControlPlaneException | VerbsException e) {
            LOG.debug("a client at {} is not told that it was rejected: {}", from, e.getMessage());
        }
    }

    private static void refuse(
            QueueHub hub, HostId from, QueueHello client, QueueGuests.Guest guest, ByteBuffer welcome) {
        QueueHello refusal = QueueHello.refusal(welcome);
        QueueMessage header = new QueueMessage(QueueMessage.REFUSAL, client.number(), 0);
        int bytes = refusal.messageBytes();
        MemoryRegion region = hub.tenant().allocate(bytes, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ));
        try {
            refusal.write(header, region.memory().asByteBuffer());
            say(
                    hub,
                    from,
                    guest,
                    WorkRequest.create(1, 0).sendWithImmediate(client.port()).from(region, 0, bytes));
        } finally {
            region.close();
        }
    }

    /** Sends one message to a process, and gives up if that process does not take it in time. */
    private static void say(QueueHub hub, HostId host, QueueGuests.Guest guest, WorkRequest message) {
        guest.await();
        try (VirtualQueue queue = hub.connect(host)) {
            if (push(queue, message.signaled(), guest) && !isDone(queue, guest)) {
                LOG.debug("a client at {} has not taken a message", host);
            }
        } finally {
            guest.goesOn();
        }
    }

    /** Whether the queue has taken the request within the time limit. */
    private static boolean push(VirtualQueue queue, WorkRequest request, QueueGuests.Guest guest) {
        return within(() -> queue.push(request), guest);
    }

    /** Whether a request of the queue was successful within the time limit. */
    private static boolean isDone(VirtualQueue queue, QueueGuests.Guest guest) {
        Completions done = Completions.create(1);
        return within(() -> queue.pop(done) > 0, guest) && done.isSuccess(0);
    }

    /** False once the time is up or the guest has lost its place. */
    private static boolean within(BooleanSupplier condition, QueueGuests.Guest guest) {
        long begin = System.nanoTime();
        while (!condition.getAsBoolean()) {
            if (guest.isEvicted()
                    || System.nanoTime() - begin >= RdmaSettings.helloTimeout().toNanos()) {
                return false;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        return true;
    }

    @Override
    public void close() {
        synchronized (taking) {
            closed.countDown();
            place.ifPresent(last -> {
                last.hub().remove(this);
                last.close();
            });
            place = Optional.empty();
        }
    }
}
