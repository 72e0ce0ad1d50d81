package dev.rackcall.rdma.queue;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.rdma.end.ForeignPeerException;
import dev.rackcall.rdma.end.MirrorCarrier;
import dev.rackcall.rdma.end.RequestQueue;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.CarrierProvider.Memory;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.WorkRequest;
import java.nio.ByteBuffer;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/**
 * One end of a connection over two virtual queues: one for requests to the peer's memory, one for {@linkplain
 * QueueMessages messages}, which complete only when the peer's process takes them. {@link QueueWakeups} wakes a peer
 * that sleeps, {@link QueueArrivals} relays what arrives. The {@link QueueHub}'s thread does all work that is not
 * urgent.
 *
 * <p>If the peer's process has ended, requests fail. An idle end regularly writes a word as a probe.
 */
final class QueueCarrier extends MirrorCarrier {
    /** How long a closing end waits for its last requests to arrive. */
    private static final long LAST_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** Maximum wait in {@link #listen} for the announcement to arrive. The sleeper is woken if it arrives later. */
    private static final long LISTEN_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
    /**
     * Ticks for which the hub still attends to a carrier that is idle, so that calls need not wake the hub's thread.
     */
    private static final int LINGER_TICKS = 40;

    private final QueueHub hub;
    private final HostId host;
    private final QueueEnd end;
    private final VirtualQueue queue;
    private final VirtualQueue messageQueue;
    private final boolean movedByLooks;
    /** Whether an agent in another process moves the traffic, by polling a software device. */
    private final boolean movedByProcess;

    private final QueueMessages messages;
    private final QueueWakeups wakeups;
    private final QueueArrivals arrivals = new QueueArrivals();
    private final long number;
    /** A server's answer to this client. */
    private final CompletableFuture<Reply> reply = new CompletableFuture<>();

    private final AtomicBoolean beating = new AtomicBoolean();
    /** The next beat assumes that the peer has forgotten that a thread sleeps here. */
    private final AtomicBoolean forgets = new AtomicBoolean();
    /** How many RINGs have arrived from the peer. */
    private final AtomicLong rings = new AtomicLong();
    /** {@link QueueHub#looks} when this end was last polled. */
    private long looksSeen;
    /**
     * Whether the hub's thread attends to this end. Written with the lock; read without, since that thread waits for no
     * lock.
     */
    private volatile boolean attended;
    /** For how many more ticks the hub attends to this end. */
    private int ticks;
    /**
     * The server's clock minus this one's: the greatest lower bound so far, since each reading arrives late. Written
     * under the monitor.
     */
    private volatile long clockAhead = Long.MIN_VALUE;
    /** The server's last beat that was read. */
    private volatile long seenBeat;
    /**
     * Whether the peer's process has ended the connection. Written before this end ends the connection for that reason.
     */
    private volatile boolean saidGoodbye;
    /** The reason in the peer's goodbye. Written before {@link #saidGoodbye}. */
    private Optional<ControlPlaneException.Kind> farewell = Optional.empty();
    /** Whether this end lacks a resource that the connection needs. Written before the connection's end is reported. */
    private volatile boolean lacksSomething;

    /**
     * A server's answer.
     *
     * @param kind of its message
     * @param at when it arrived ({@link System#nanoTime})
     */
    record Reply(int kind, QueueHello hello, long at) {}

    /** A virtual queue keeps track of its own room. */
    private record Requests(VirtualQueue queue) implements RequestQueue {
        @Override
        public int post(WorkRequest[] requests, int count) {
            return queue.push(requests, count);
        }

        @Override
        public int poll(Completions batch) {
            return queue.pop(batch);
        }

        @Override
        public Optional<String> failure() {
            return queue.failure();
        }
    }

    private QueueCarrier(
            QueueHub hub, HostId host, QueueEnd end, VirtualQueue queue, VirtualQueue messageQueue, int port) {
        super(end, new Requests(queue), 1, host::toString);
        this.hub = hub;
        this.host = host;
        this.end = end;
        this.queue = queue;
        this.messageQueue = messageQueue;
        movedByLooks = queue.isMovedByLooks();
        movedByProcess = !movedByLooks && !hub.tenant().isHardware();
        messages = new QueueMessages(ending, messageQueue, port);
        wakeups = new QueueWakeups(end, out, messages);
        number = hub.add(this);
    }

    /**
     * An end that is not connected yet, for a peer on the given host. It counts as a user of the tenant's hub until it
     * ends.
     *
     * @param packetBytes length of the packet in its hello
     * @param port where the peer's process receives messages
     * @throws ControlPlaneException if the host cannot be connected to, or the tenant's quota is used up
     */
    static QueueCarrier open(Tenant tenant, Memory memory, int packetBytes, HostId host, int port) {
        QueueHub hub = QueueHub.of(tenant);
        QueueEnd end = null;
        try {
            end = new QueueEnd(tenant, memory, QueueHello.FIXED_BYTES + packetBytes);
            VirtualQueue queue = end.keepQueue(hub.connect(host));
            return new QueueCarrier(hub, host, end, queue, end.keepQueue(hub.connect(host)), port);
        } catch (RuntimeException | Error e) {
            if (end != null) {
                end.close();
            }
            hub.release();
            throw e;
        }
    }

    HostId host() {
        return host;
    }

    long number() {
        return number;
    }

    /** The port where messages for this end arrive at its process. */
    int port() {
        return hub.port();
    }

    // ---- the handshake

    /** Sends this end's hello. */
    void sendHello(int kind, long to, ByteBuffer packet) {
        QueueHello hello = end.hello(number, port(), packet);
        end.write(hello, new QueueMessage(kind, to, 0));
        locked(() -> {
            if (out.isAlive()) {
                messages.hello(end, hello.messageBytes(), out.completed());
            }
            return true;
        });
    }

    /** Completes when a server has answered. */
    CompletableFuture<Reply> reply() {
        return reply;
    }

    /** Whether the peer's process has taken all messages so far. */
    boolean isHeard() {
        return locked(() -> {
            messages.step(out.completed());
            return messages.areTaken();
        });
    }

    /**
     * Writes go to this peer from now on.
     *
     * @param ahead a lower bound of its clock minus this one's
     */
    void connect(QueueHello peer, long ahead) {
        isAhead(ahead);
        lock.lock();
        try {
            aim(peer.hello().memory());
            messages.to(peer);
            wakeups.connect(peer);
        } finally {
            lock.unlock();
        }
    }

    /**
     * Writes a word that shows whether the peer has the memory that its hello names. Waits for the peer's table of
     * regions, two seconds at most.
     *
     * @return the number of the request, for {@link #isDone}
     */
    long probe() {
        lock.lock();
        try {
            addProbe();
            return out.signaled();
        } catch (RuntimeException e) {
            failed(e);
            return FAILED;
        } finally {
            leave();
        }
    }

    /**
     * Adds WRITEs to both regions of the peer. The one to the memory has no bytes, because only the peer knows what may
     * be written.
     */
    private void addProbe() {
        out.add(requests.touch().from(end.region, 0, 0));
        wakeups.beat();
    }

    /**
     * Reads the server's beat. Called repeatedly: a beat arrives much sooner than the hello, which is fetched, and a
     * later beat may be less delayed than the first. A late beat lets deadlines expire too early at the server.
     */
    void lookAtClock() {
        long beat = end.beat();
        if (beat != seenBeat) {
            seenBeat = beat;
            isAhead(beat - System.nanoTime());
        }
    }

    private synchronized void isAhead(long atLeast) {
        clockAhead = Math.max(clockAhead, atLeast);
    }

    @Override
    public long clockAhead() {
        return clockAhead;
    }

    // ---- sending

    @Override
    protected boolean publish(long offset, long value, boolean urgent) {
        lock.lock();
        try {
            if (!out.isAlive()
                    || !out.add(requests.write(offset, Long.BYTES).inline(value).signaled())) {
                return false;
            }
            wakeups.published(urgent);
            return out.isAlive();
        } catch (RuntimeException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    @Override
    public boolean tell(long value) {
        lock.lock();
        try {
            if (out.isAlive()) {
                if (out.signaled() < out.added()) {
                    wakeups.beat();
                }
                messages.add(QueueMessage.TOLD, value, out.signaled(), out.completed());
            }
            return out.isAlive();
        } catch (RuntimeException e) {
            return failed(e);
        } finally {
            leave();
        }
    }

    @Override
    protected void reap() {
        super.reap();
        wakeups.settle();
        messages.step(out.completed());
    }

    // ---- receiving

    @Override
    public void start(Arrivals listener) {
        arrivals.start(listener);
        // If the connection ended earlier, there was no listener to report it to.
        if (hasEnded()) {
            tellEnd();
        }
    }

    /** Moves the device's traffic and handles completed publications, unless another thread holds the lock. */
    @Override
    public void look() {
        if (lock.tryLock()) {
            try {
                // If a thread polls many connections in turn, the first moves the traffic of all.
                if (movedByLooks && hub.looks() == looksSeen) {
                    hub.looking();
                    queue.look();
                }
                looksSeen = hub.looks();
                if (!wakeups.isSettled() && out.isAlive()) {
                    reap();
                }
            } catch (RuntimeException e) {
                failed(e);
            } finally {
                leave();
            }
        }
    }

    @Override
    public boolean isMovedByProcess() {
        return movedByProcess;
    }

    @Override
    public void listen() {
        try {
            announce();
        } finally {
            if (movedByLooks) {
                queue.rest();
            }
        }
    }

    private void announce() {
        long heard = rings.get();
        long begin = System.nanoTime();
        long request = FAILED;
        while (true) {
            lock.lock();
            try {
                if (!out.isAlive()) {
                    return;
                }
                request = request == FAILED ? wakeups.announce(heard) : request;
                reap();
                if (out.completed() >= request) {
                    return;
                }
                if (System.nanoTime() - begin >= LISTEN_NANOS) {
                    wakeups.isLate();
                    return;
                }
            } catch (RuntimeException e) {
                failed(e);
                return;
            } finally {
                leave();
            }
            Thread.onSpinWait();
        }
    }

    /** Whether the peer's processor has seen the last announcement that a thread sleeps here. */
    boolean hasSeenListening() {
        return end.hasSeenListening();
    }

    // ---- the hub's threads

    /** A message for this end, from its peer's host. */
    void receive(QueueMessage message, ByteBuffer rest) throws ForeignPeerException {
        switch (message.kind()) {
            case QueueMessage.SERVER_HELLO, QueueMessage.REFUSAL ->
                reply.complete(new Reply(message.kind(), QueueHello.read(rest), System.nanoTime()));
            case QueueMessage.RING -> {
                rings.incrementAndGet();
                arrivals.published();
            }
            case QueueMessage.TOLD -> {
                if (!arrivals.told(message.value())) {
                    end("it sends more numbers than a client can have to send");
                    tellEnd();
                }
            }
            case QueueMessage.BYE -> {
                farewell = Farewell.kind(message.value());
                saidGoodbye = true;
                end(farewell.map(kind -> "the peer has ended it: " + Farewell.describe(kind))
                        .orElse("it has said goodbye"));
                tellEnd();
            }
            default -> throw new ForeignPeerException("it sends its hello to an end of another connection");
        }
    }

    /**
     * Does all work that is due; returns whether the hub's thread has to attend to this end again. Waits for no lock.
     */
    boolean attend(long now) {
        if (lock.tryLock()) {
            boolean wakes = true;
            try {
                wakes = attendLocked(now);
            } catch (RuntimeException e) {
                failed(e);
            } finally {
                lock.unlock();
            }
            if (wakes) {
                arrivals.published();
            }
        }
        if (hasEnded()) {
            tellEnd();
        }
        return attended;
    }

    /** Returns whether a sleeper has to check the memory. */
    private boolean attendLocked(long now) {
        if (out.isAlive()) {
            lookAtClock();
            out.drain(now);
            reap();
        }
        if (isBusy()) {
            ticks = LINGER_TICKS;
            // This end may be in the hub's list twice for a while, and the other entry may have cleared the flag.
            attended = true;
        } else if (--ticks < 0) {
            attended = false;
        }
        return wakeups.takeLate();
    }

    /** Whether the hub's thread attends to this end. Waits for no lock. */
    boolean isAttended() {
        return attended;
    }

    private boolean isBusy() {
        return out.isAlive() && (!wakeups.isSettled() || out.isHeldUp() || messages.areUnderWay());
    }

    @Override
    protected boolean wantsHelp() {
        boolean asks = !attended && isBusy();
        if (asks) {
            attended = true;
            ticks = LINGER_TICKS;
        }
        return asks;
    }

    @Override
    protected void askForHelp() {
        hub.attend(this);
    }

    /** Lets sleepers check the memory, because a device may lose the RING that should wake them. */
    void remind() {
        forgets.set(true);
        arrivals.published();
    }

    /** Checks that the peer's process is alive. */
    void beat() {
        if (!hasEnded() && !isClosed() && beating.compareAndSet(false, true)) {
            // On a new thread: a beat may wait for the peer's host, and other carriers must not wait for that.
            Thread.ofVirtual().name("rackcall-queue-beat").start(() -> {
                try {
                    beat(forgets.getAndSet(false));
                } finally {
                    beating.set(false);
                }
            });
        }
    }

    /**
     * Sends a probe unless a pending request serves as one. The probe keeps both regions of the peer known, so no
     * thread that posts has to request them. The probe may wait for the peer's table of regions.
     *
     * @param forget whether to announce sleepers again, in case a RING was lost
     */
    private void beat(boolean forget) {
        locked(() -> {
            if (forget) {
                wakeups.forget();
            }
            if (out.isAlive()) {
                lookAtClock();
            }
            if (out.isAlive() && requests.areAimed() && wakeups.isSettled()) {
                addProbe();
            }
            return true;
        });
    }

    // ---- the end

    /** Whether the peer's process has ended the connection by a message. */
    boolean hasSaidGoodbye() {
        return saidGoodbye;
    }

    /** Whether this process has lost its port and receives no messages any more. */
    boolean isUnheard() {
        return hub.isBroken();
    }

    /** The reason in the peer's goodbye. */
    Optional<ControlPlaneException.Kind> farewell() {
        return saidGoodbye ? farewell : Optional.empty();
    }

    /** Empty for a goodbye without a reason: then the peer is gone, and nothing else is known. */
    @Override
    public Optional<Status> endCause() {
        if (!hasEnded() || (saidGoodbye && farewell.isEmpty())) {
            return Optional.empty();
        }
        boolean wants = lacksSomething || farewell.isPresent();
        Status.Code code = wants ? Status.Code.RESOURCE_EXHAUSTED : Status.Code.UNAVAILABLE;
        return Optional.of(code.with("%s", whyEnded()));
    }

    @Override
    protected boolean isFailure(RuntimeException e) {
        return e instanceof ControlPlaneException || super.isFailure(e);
    }

    @Override
    protected void failing(RuntimeException cause) {
        if (Farewell.value(cause) != 0) {
            lacksSomething = true;
        }
        if (requests.areAimed() && out.isAlive()) {
            messages.sayFarewell(cause, out.completed());
        }
    }

    @Override
    public void tellEnd() {
        arrivals.ended();
    }

    /** Afterwards sends the peer a BYE. */
    @Override
    protected void letArrive() {
        wakeups.beat();
        out.letArrive(LAST_NANOS);
        if (out.isAlive()) {
            messages.add(QueueMessage.BYE, 0, 0, out.completed());
        }
    }

    @Override
    protected void closeParts() {
        arrivals.close();
        hub.remove(this);
        end.close(messageQueue, queue);
        hub.release();
    }
}
