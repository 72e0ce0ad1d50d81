package dev.rackcall.rdma.queue;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.HostId;
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
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A port where clients say hello to a server; a virtual thread for each that is not connected yet. */
final class QueueListener implements CarrierProvider.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(QueueListener.class);
    /** Who has said hello and has no connection yet. Others wait at the port, which keeps some. */
    private static final int MAX_GUESTS = 64;

    private static final long PAUSE_NANOS = TimeUnit.MICROSECONDS.toNanos(50);

    private final Exchange exchange;
    private final Inbox inbox;
    private final URI address;
    private final Reception reception;
    private final Semaphore room = new Semaphore(MAX_GUESTS);
    private final Object taking = new Object();
    /** Guarded by taking. */
    private boolean over;

    /**
     * Binds the port and takes a use of the exchange over.
     *
     * @throws ControlPlaneException if the port is taken
     */
    QueueListener(Exchange exchange, URI wanted, int port, Reception reception) {
        this.exchange = exchange;
        this.reception = reception;
        inbox = Inbox.bind(exchange.tenant(), port, exchange::wake);
        address = URI.create(QueueCarriers.SCHEME + "://" + wanted.getHost() + ":" + inbox.number());
        exchange.add(this);
    }

    @Override
    public URI address() {
        return address;
    }

    /** The exchange's thread: takes who has come, if there is room for as many as may come at a time. Nobody else takes any of that. */
    int take() {
        // Not while it is closed, or what comes just then would go into memory that is gone.
        synchronized (taking) {
            return over || room.availablePermits() < Inbox.PIECES ? 0 : inbox.take(this::admit);
        }
    }

    private void admit(HostId from, ByteBuffer bytes) {
        try {
            QueueMessage message = QueueMessage.read(bytes);
            if (message.kind() != QueueMessage.HELLO) {
                throw new MalformedException("it says a message of kind " + message.kind() + " where hello is due");
            }
            QueueGreeting client = QueueGreeting.read(bytes);
            if (!room.tryAcquire()) {
                throw new IllegalStateException("more than " + Inbox.PIECES + " have come at a time");
            }
            start(from, client);
        } catch (MalformedException e) {
            Exchange.turnedAway(from, e.getMessage());
        }
    }

    private void start(HostId from, QueueGreeting client) {
        try {
            Thread.ofVirtual().name("rackcall-queue-guest").start(() -> {
                try {
                    greet(from, client);
                } catch (MalformedException | ControlPlaneException | VerbsException e) {
                    turnAway(from, client, e.getMessage());
                } catch (RuntimeException | Error e) {
                    turnAway(from, client, e.toString());
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

    private void greet(HostId from, QueueGreeting client) throws MalformedException {
        Answer answer = reception.greet(client.packet());
        if (answer.seat().isEmpty()) {
            refuse(from, client, answer.welcome());
        } else {
            seat(from, client, answer.welcome(), answer.seat().get());
        }
    }

    private void seat(HostId from, QueueGreeting client, ByteBuffer welcome, Seat seat) throws MalformedException {
        QueueCarrier carrier = null;
        try {
            if (client.bytes() < seat.memory().byteSize()) {
                throw new MalformedException("its memory of " + client.bytes() + " bytes is shorter than the "
                        + seat.memory().byteSize() + " that it gets here");
            }
            carrier = carrier(from, client, welcome, seat);
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
    private QueueCarrier carrier(HostId from, QueueGreeting client, ByteBuffer welcome, Seat seat) {
        try {
            return QueueCarriers.carrier(exchange.tenant(), seat.memory(), welcome.remaining(), from, client.port());
        } catch (ControlPlaneException | VerbsException e) {
            Status why =
                    QueueCarriers.code(e).with("no connection over virtual queues at the server: %s", e.getMessage());
            refuse(from, client, seat.refusal(why));
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

    /** Of a client for whom something went wrong. It waits for an answer, if it is one. */
    private void turnAway(HostId from, QueueGreeting client, String why) {
        Exchange.turnedAway(from, why);
        try {
            MemorySegment bytes = Arena.ofAuto().allocate(QueueMessage.BYTES);
            new QueueMessage(QueueMessage.BYE, client.number(), 0).write(bytes.asByteBuffer());
            // Inline: it needs no region, of which there may be none left.
            say(
                    from,
                    WorkRequest.create(1, QueueMessage.BYTES)
                            .sendWithImmediate(client.port())
                            .inline(bytes, 0, QueueMessage.BYTES));
        } catch (ControlPlaneException | VerbsException e) {
            LOG.debug("a client at {} does not hear that it was turned away: {}", from, e.getMessage());
        }
    }

    private void refuse(HostId from, QueueGreeting client, ByteBuffer welcome) {
        QueueGreeting refusal = QueueGreeting.refusal(welcome);
        QueueMessage header = new QueueMessage(QueueMessage.REFUSAL, client.number(), 0);
        int bytes = refusal.messageBytes();
        MemoryRegion region = exchange.tenant().allocate(bytes, EnumSet.of(Access.LOCAL_WRITE, Access.REMOTE_READ));
        try {
            refusal.write(header, region.memory().asByteBuffer());
            say(from, WorkRequest.create(1, 0).sendWithImmediate(client.port()).from(region, 0, bytes));
        } finally {
            region.close();
        }
    }

    /** Says one thing to a process, as far as it hears that. */
    private void say(HostId host, WorkRequest message) {
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
            if (over) {
                return;
            }
            over = true;
            exchange.remove(this);
            inbox.close();
        }
        exchange.release();
    }
}
