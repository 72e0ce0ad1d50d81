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
 * that sleeps, {@link QueueArrivals} relays what arrives. The {@link QueueHub}'s thread does what is due a little later.
 *
 * <p>The end of the peer's process shows by requests that fail. An idle end writes a word now and then as a probe.
 */
final class QueueCarrier extends MirrorCarrier {
    /** How long a closing end waits for its last requests to arrive. */
    private static final long LAST_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** Longest wait in {@link #listen} for the peer to know. After that the sleeper is woken once it does. */
    private static final long LISTEN_NANOS = TimeUnit.MICROSECONDS.toNanos(200);
    /** Ticks for which the hub keeps a carrier that needs it no more, so that calls need not wake the hub's thread. */
    private static final int LINGER_TICKS = 40;

    private final QueueHub hub;
    private final HostId host;
    private final QueueEnd end;
    private final VirtualQueue queue;
    private final VirtualQueue messageQueue;
    private final boolean movedByLooks;
    private final QueueMessages messages;
    private final QueueWakeups wakeups;
    private final QueueArrivals arrivals = new QueueArrivals();
    private final long number;
    /** A server's answer to this client. */
    private final CompletableFuture<Reply> reply = new CompletableFuture<>();

    private final AtomicBoolean beating = new AtomicBoolean();
    /** The next beat assumes that the peer has forgotten that a thread sleeps here. */
    private final AtomicBoolean forgets = new AtomicBoolean();
    /** How many RINGs have come from the peer. */
    private final AtomicLong rings = new AtomicLong();
    /** The hub's looks when this end was last looked at. */
    private long looksSeen;
    /** The hub's thread attends to this end. Written with the lock; read without, as that thread waits for no lock. */
    private volatile boolean attended;
    /** How many ticks longer. */
    private int ticks;
    /** The greatest lower bound of the server's clock so far; all signs of it are late. Written under the monitor. */
    private volatile long clockAhead = Long.MIN_VALUE;
    /** The server's last beat that was looked at. */
    private volatile long seenBeat;
    /** The peer's process has ended the connection. Written before it ends for that. */
    private volatile boolean saidGoodbye;
    /** The reason in the peer's goodbye. Written before {@link #saidGoodbye}. */
    private Optional<ControlPlaneException.Kind> farewell = Optional.empty();
    /** This end lacks a resource that the connection needs. Written before the end is told. */
    private volatile boolean lacksSomething;

    /**
     * A server's answer.
     *
     * @param kind of its message
     * @param at when it arrived ({@link System#nanoTime})
     */
    record Reply(int kind, QueueHello hello, long at) {}

    /** A virtual queue knows its own room. */
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
        messages = new QueueMessages(ending, messageQueue, port);
        wakeups = new QueueWakeups(end, out, messages);
        number = hub.add(this);
    }

    /**
     * An end towards a process of that host, not connected yet. It owns a use of the tenant's hub.
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

    /** Where messages for it arrive at its process. */
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
                messages.hello(end.words, hello.messageBytes(), out.completed());
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
     * @param ahead its clock less this one's, at least
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

    /** Asks for both regions of the peer. For the memory by no bytes, since only the peer knows what may be written. */
    private void addProbe() {
        out.add(requests.touch().from(end.region, 0, 0));
        wakeups.beat();
    }

    /**
     * Reads the server's beat. Called repeatedly, since a beat arrives much sooner than the hello, which is fetched, and
     * a later beat may be less late than the first. A late beat lets deadlines expire too early at the server.
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
        // Only now: an earlier end found no listener to tell.
        if (hasEnded()) {
            tellEnd();
        }
    }

    /** Moves the device's traffic and handles completed publications, unless another thread holds the lock. */
    @Override
    public void look() {
        if (lock.tryLock()) {
            try {
                // Of many connections that a thread looks at in turn, the first moves the traffic of all.
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
    public void listen() {
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
                    end("it tells more numbers than a client can have to tell");
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
            default -> throw new ForeignPeerException("it says hello to an end of another connection");
        }
    }

    /** Does what is due; returns whether the hub's thread has to attend to it again. Waits for no lock. */
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

    /** Returns whether a sleeper has to look at the memory. */
    private boolean attendLocked(long now) {
        if (out.isAlive()) {
            lookAtClock();
            out.drain(now);
            reap();
        }
        if (isBusy()) {
            ticks = LINGER_TICKS;
            // It may be in the hub's list twice for a while, and the other entry may have found it quiet.
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

    /** Lets sleepers look at the memory, since a device may lose the RING that should wake them. */
    void remind() {
        forgets.set(true);
        arrivals.published();
    }

    /** Checks that the peer is there. */
    void beat() {
        if (!hasEnded() && !isClosed() && beating.compareAndSet(false, true)) {
            // A thread of its own: a beat may wait for the peer's host, and other carriers must not.
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
     * Sends a probe unless a pending request serves as one. The probe keeps both regions of the peer known, so that no
     * thread that posts has to ask for them; it may wait for the peer's table of regions.
     *
     * @param forget announces sleepers anew, in case a RING was lost
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

    /** Whether this process has lost its port, and no peer's messages arrive. */
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

    /** Then the peer is told of the end. */
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
