package dev.rackcall.rdma.queue;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.CarrierProvider;
import dev.rackcall.rpc.spi.CarrierProvider.Answer;
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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A port where clients say hello to a server; a virtual thread for each that is not connected yet. If the agent is another process and ends, it listens again as soon as there is another one.
 */
final class QueueListener implements CarrierProvider.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(QueueListener.class);
    /** Who has said hello and has no connection yet. Others wait at the port, which keeps some. */
    private static final int MAX_GUESTS = 64;

    private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);
    /** Between two times that it tries to listen again. Each waits for an agent a while, too. */
    private static final long AGAIN_MILLIS = 500;
    /** Between two times that it says why it cannot. */
    private static final long SAY_NANOS = TimeUnit.MINUTES.toNanos(1);

    /** Where it hears, over one life of the agent. */
    private record Place(Exchange exchange, Inbox inbox) {
        /** With a use of the exchange. */
        static Place open(Tenant tenant, int port) {
            Exchange exchange = Exchange.of(tenant);
            try {
                return new Place(exchange, Inbox.bind(tenant, port, exchange::wake));
            } catch (RuntimeException | Error e) {
                exchange.release();
                throw e;
            }
        }

        void close() {
            inbox.close();
            exchange.release();
        }
    }

    private final Tenant tenant;
    private final URI address;
    private final Reception reception;
    private final Semaphore room = new Semaphore(MAX_GUESTS);
    private final CountDownLatch closed = new CountDownLatch(1);
    private final Object taking = new Object();
    /** Guarded by taking. Empty while there is no agent, and in the end. */
    private Optional<Place> place;
    /** Guarded by taking: who tries to listen again, or did last. */
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
        first.exchange().add(this);
    }

    @Override
    public URI address() {
        return address;
    }

    /** The exchange's thread: takes who has come, if there is room for as many as may come at a time. Nobody else takes any of that. */
    int take() {
        // Not while it is closed, or what comes just then would go into memory that is gone.
        synchronized (taking) {
            if (place.isEmpty() || room.availablePermits() < Inbox.PIECES) {
                return 0;
            }
            Place now = place.get();
            return now.inbox().take((from, bytes) -> admit(now.exchange(), from, bytes));
        }
    }

    /** As {@link Inbox#isDry}. */
    boolean isDry() {
        synchronized (taking) {
            return place.isPresent() && place.get().inbox().isDry();
        }
    }

    private void admit(Exchange exchange, HostId from, ByteBuffer bytes) {
        try {
            QueueMessage message = QueueMessage.read(bytes);
            if (message.kind() != QueueMessage.HELLO) {
                throw new MalformedException("it says a message of kind " + message.kind() + " where hello is due");
            }
            QueueGreeting client = QueueGreeting.read(bytes);
            if (!room.tryAcquire()) {
                throw new IllegalStateException("more than " + Inbox.PIECES + " have come at a time");
            }
            start(exchange, from, client);
        } catch (MalformedException e) {
            Exchange.turnedAway(from, e.getMessage());
        }
    }

    private void start(Exchange exchange, HostId from, QueueGreeting client) {
        try {
            Thread.ofVirtual().name("rackcall-queue-guest").start(() -> {
                try {
                    greet(exchange, from, client);
                } catch (MalformedException e) {
                    turnAway(exchange, from, client, 0, e.getMessage());
                } catch (ControlPlaneException | VerbsException e) {
                    turnAway(exchange, from, client, Farewell.value(e), e.getMessage());
                } catch (RuntimeException | Error e) {
                    turnAway(exchange, from, client, 0, e.toString());
                } finally {
                    room.release();
                    // Those who wait at the port have said so already.
                    exchange.wake();
                }
            });
        } catch (RuntimeException | Error e) {
            room.release();
            throw e;
        }
    }

    private void greet(Exchange exchange, HostId from, QueueGreeting client) throws MalformedException {
        Answer answer = reception.greet(client.packet());
        if (answer.seat().isEmpty()) {
            refuse(exchange, from, client, answer.welcome());
        } else {
            seat(exchange, from, client, answer.welcome(), answer.seat().get());
        }
    }

    private static void seat(Exchange exchange, HostId from, QueueGreeting client, ByteBuffer welcome, Seat seat)
            throws MalformedException {
        QueueCarrier carrier = null;
        try {
            if (client.bytes() < seat.memory().mapped().byteSize()) {
                throw new MalformedException("its memory of " + client.bytes() + " bytes is shorter than the "
                        + seat.memory().mapped().byteSize() + " that it gets here");
            }
            carrier = carrier(exchange, from, client, welcome, seat);
            meet(carrier, client, welcome);
        } catch (MalformedException | RuntimeException | Error e) {
            if (carrier != null) {
                carrier.close();
            }
            seat.leave();
            throw e;
        }
        seat.take(carrier);
    }

    /** This end; a client that cannot have one is told why. */
    private static QueueCarrier carrier(
            Exchange exchange, HostId from, QueueGreeting client, ByteBuffer welcome, Seat seat) {
        try {
            return QueueCarriers.carrier(exchange.tenant(), seat.memory(), welcome.remaining(), from, client.port());
        } catch (ControlPlaneException | VerbsException e) {
            Status why =
                    QueueCarriers.code(e).with("no connection over virtual queues at the server: %s", e.getMessage());
            refuse(exchange, from, client, seat.refusal(why));
            throw e;
        }
    }

    /** Nobody gets a place who does not have the memory that he says, or does not hear that he has one. */
    private static void meet(QueueCarrier carrier, QueueGreeting client, ByteBuffer welcome) throws MalformedException {
        Duration timeout = QueueSettings.greetingTimeout();
        carrier.connect(client, client.clock() - System.nanoTime());
        long probe = carrier.probe();
        await(carrier, () -> carrier.isDone(probe), timeout, "lets nobody write into the memory that it names");
        carrier.greet(QueueMessage.WELCOME, client.number(), welcome);
        await(carrier, carrier::isHeard, timeout, "does not hear that it is welcome");
    }

    private static void await(QueueCarrier carrier, BooleanSupplier done, Duration timeout, String otherwise)
            throws MalformedException {
        long begin = System.nanoTime();
        while (!done.getAsBoolean()) {
            if (carrier.hasEnded()) {
                throw new MalformedException("it " + otherwise + ": " + carrier.whyEnded());
            }
            if (System.nanoTime() - begin > timeout.toNanos()) {
                throw new MalformedException("it " + otherwise + " within " + timeout);
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    // ---- another agent

    /** The exchange's thread: nothing is heard there any more. Connections end; their clients come again. */
    void lost(Exchange which, String why) {
        Optional<Thread> next;
        synchronized (taking) {
            if (place.isEmpty() || place.get().exchange() != which) {
                return;
            }
            Place last = place.get();
            place = Optional.empty();
            last.exchange().remove(this);
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
            LOG.warn("{} is not listened at until there is an agent again: {}", address, why);
            next.get().start();
        }
    }

    private void sayThatItIsOver(String why) {
        LOG.warn("{} is not listened at any more, since the tenant was closed that listened there: {}", address, why);
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
                // That there is no agent was said when it ended.
                if (!isForWantOfAnAgent(e) && !tenant.isClosed() && System.nanoTime() - said >= SAY_NANOS) {
                    said = System.nanoTime();
                    LOG.warn("{} cannot be listened at again, which is tried on and on: {}", address, e.toString());
                }
                goesOn = waitALittle();
                // No agent changes that.
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

    /** Whether it hears who comes. */
    boolean isListening() {
        synchronized (taking) {
            return place.isPresent();
        }
    }

    /** Whether it looks for an agent with which it could listen again. */
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
                next.exchange().add(this);
                LOG.info("{} is listened at again", address);
                return;
            }
        }
        next.close();
    }

    /** Returns whether it is to go on. */
    private boolean waitALittle() {
        try {
            return !closed.await(AGAIN_MILLIS, TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            throw new IllegalStateException("nobody interrupts it", e);
        }
    }

    /** Of a client for whom something went wrong. It waits for an answer, if it is one. */
    private static void turnAway(Exchange exchange, HostId from, QueueGreeting client, long farewell, String why) {
        Exchange.turnedAway(from, why);
        try {
            MemorySegment bytes = Arena.ofAuto().allocate(QueueMessage.BYTES);
            new QueueMessage(QueueMessage.BYE, client.number(), farewell).write(bytes.asByteBuffer());
            // Inline: it needs no region, of which there may be none left.
            say(
                    exchange,
                    from,
                    WorkRequest.create(1, QueueMessage.BYTES)
                            .sendWithImmediate(client.port())
                            .inline(bytes, 0, QueueMessage.BYTES));
        } catch (ControlPlaneException | VerbsException e) {
            LOG.debug("a client at {} does not hear that it was turned away: {}", from, e.getMessage());
        }
    }

    private static void refuse(Exchange exchange, HostId from, QueueGreeting client, ByteBuffer welcome) {
        QueueGreeting refusal = QueueGreeting.refusal(welcome);
        QueueMessage header = new QueueMessage(QueueMessage.REFUSAL, client.number(), 0);
        int bytes = refusal.messageBytes();
        MemoryRegion region = exchange.tenant().allocate(bytes, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ));
        try {
            refusal.write(header, region.memory().asByteBuffer());
            say(
                    exchange,
                    from,
                    WorkRequest.create(1, 0).sendWithImmediate(client.port()).from(region, 0, bytes));
        } finally {
            region.close();
        }
    }

    /** Says one thing to a process, as far as it hears that. */
    private static void say(Exchange exchange, HostId host, WorkRequest message) {
        try (VirtualQueue queue = exchange.connect(host)) {
            message.signaled();
            Completions done = Completions.create(1);
            long begin = System.nanoTime();
            boolean isSent = false;
            while (System.nanoTime() - begin < QueueSettings.greetingTimeout().toNanos()) {
                isSent = isSent || queue.push(message);
                if (isSent && queue.pop(done) > 0) {
                    return;
                }
                LockSupport.parkNanos(PAUSE_NANOS);
            }
        }
    }

    @Override
    public void close() {
        synchronized (taking) {
            closed.countDown();
            place.ifPresent(last -> {
                last.exchange().remove(this);
                last.close();
            });
            place = Optional.empty();
        }
    }
}
