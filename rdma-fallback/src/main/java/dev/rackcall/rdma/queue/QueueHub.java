package dev.rackcall.rdma.queue;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.cp.client.Patience;
import dev.rackcall.rdma.end.ForeignPeerException;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.LimitedLog;
import java.nio.ByteBuffer;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Shared by all connections of one tenant in this process: a port where their messages arrive, and a thread. The thread
 * takes messages, completes publications that no other thread attends to, and checks that peers are alive. Open while
 * there is a connection or a listener, and a moment longer, since another connection may follow soon. Thread-safe.
 */
final class QueueHub {
    private static final LimitedLog LOG = LimitedLog.of(QueueHub.class);
    private static final SecureRandom RANDOM = new SecureRandom();
    /** How often the thread attends to carriers that need it. */
    private static final long TICK_NANOS = TimeUnit.MICROSECONDS.toNanos(500);

    /**
     * An agent uses its copy of a peer's table of regions for a second, and refreshes it in the background if it is
     * used after half of that.
     */
    private static final long BEAT_NANOS = TimeUnit.MILLISECONDS.toNanos(400);

    private static final long REMIND_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final long LINGER_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final Map<Tenant, QueueHub> OPEN = new HashMap<>();
    /**
     * Hubs that a thread is creating; each future completes when that thread has succeeded or failed. Guarded by OPEN.
     */
    private static final Map<Tenant, CompletableFuture<Void>> MAKING = new HashMap<>();
    /** The open hubs, and those that are closing and still have their port. */
    private static final AtomicInteger LIVING = new AtomicInteger();

    /** Whether sleepers are woken once a second to check the memory. Tests switch it off. */
    private static volatile boolean reminds = true;

    private final Tenant tenant;
    private final QueueInbox inbox;
    private final Map<Long, QueueCarrier> carriers = new ConcurrentHashMap<>();
    private final List<QueueListener> listeners = new CopyOnWriteArrayList<>();
    private final Queue<QueueCarrier> wanting = new ConcurrentLinkedQueue<>();
    /** Used by the hub's thread only. */
    private final List<QueueCarrier> attended = new ArrayList<>();

    private final Thread thread;
    /** Guarded by OPEN, as is {@link #leftAt}. */
    private int users;

    private long leftAt;
    /** Whether the thread sleeps until it is woken. */
    private volatile boolean asleep;
    /**
     * Whether something has arrived since the thread's last check. Needed because a lock taken in between may have
     * consumed the thread's permit.
     */
    private volatile boolean hasCome;

    /** Whether the port is lost, and no messages arrive. */
    private volatile boolean broken;

    private volatile long looks;

    private QueueHub(Tenant tenant) {
        this.tenant = tenant;
        thread = Thread.ofPlatform().daemon().name("rackcall-queues").unstarted(this::run);
        inbox = QueueInbox.bind(tenant, 0, this::wake);
    }

    /**
     * The tenant's hub, which the caller {@linkplain #release releases}. If there is none, one thread creates it, and
     * other threads wait for it with their own {@link Patience}.
     *
     * @throws ControlPlaneException if the tenant cannot bind a port
     * @throws RpcException UNAVAILABLE if no thread could create it in time
     */
    static QueueHub of(Tenant tenant) {
        long end = System.nanoTime() + Patience.left().toNanos();
        while (true) {
            CompletableFuture<Void> mine = new CompletableFuture<>();
            CompletableFuture<Void> others;
            synchronized (OPEN) {
                Optional<QueueHub> found = find(tenant);
                if (found.isPresent()) {
                    return found.get();
                }
                others = MAKING.putIfAbsent(tenant, mine);
            }
            if (others == null) {
                return make(tenant, mine);
            }
            await(others, end);
        }
    }

    private void start() {
        try {
            thread.start();
        } catch (RuntimeException | Error e) {
            inbox.close();
            throw e;
        }
    }

    /** Called without a lock that other threads need, because it may wait for the next agent process. */
    private static QueueHub make(Tenant tenant, CompletableFuture<Void> done) {
        try {
            QueueHub made = new QueueHub(tenant);
            synchronized (OPEN) {
                made.users = 1;
                // Before other threads find the hub: if its thread cannot be started, no messages would be taken.
                made.start();
                OPEN.put(tenant, made);
                LIVING.incrementAndGet();
            }
            return made;
        } finally {
            synchronized (OPEN) {
                MAKING.remove(tenant);
            }
            done.complete(null);
        }
    }

    private static void await(CompletableFuture<Void> others, long end) {
        try {
            others.get(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            throw Status.Code.UNAVAILABLE
                    .with("this host's agent has given this process no port in time; is it stopped?")
                    .asException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw Status.Code.CANCELLED
                    .with("interrupted while another thread asked this host's agent for a port")
                    .asException(e);
        } catch (ExecutionException e) {
            throw new IllegalStateException("it is never completed with a failure", e);
        }
    }

    /** The open hub, with one more user. */
    private static Optional<QueueHub> find(Tenant tenant) {
        synchronized (OPEN) {
            Optional<QueueHub> found = Optional.ofNullable(OPEN.get(tenant));
            found.ifPresent(hub -> hub.users++);
            return found;
        }
    }

    void release() {
        synchronized (OPEN) {
            users--;
            leftAt = System.nanoTime();
        }
    }

    /** Whether it has been unused for a while. It is then removed from OPEN. */
    private boolean isLeft(long now) {
        synchronized (OPEN) {
            return users == 0 && now - leftAt >= LINGER_NANOS && OPEN.remove(tenant, this);
        }
    }

    /** How many hubs hold a port in this process. */
    static int open() {
        return LIVING.get();
    }

    /** Whether sleepers are reminded in this process; for tests. */
    static void remind(boolean so) {
        reminds = so;
    }

    /** The connections of a tenant; for tests that make them fail. */
    static List<QueueCarrier> carriersOf(Tenant tenant) {
        synchronized (OPEN) {
            QueueHub hub = OPEN.get(tenant);
            return hub == null ? List.of() : List.copyOf(hub.carriers.values());
        }
    }

    Tenant tenant() {
        return tenant;
    }

    /** Whether its port is lost, with the agent or the tenant. */
    boolean isBroken() {
        return broken;
    }

    /** Where messages for its connections arrive. */
    int port() {
        return inbox.number();
    }

    VirtualQueue connect(HostId host) {
        return QueueSettings.address(host)
                .map(address -> tenant.connect(host, address))
                .orElseGet(() -> tenant.connect(host));
    }

    /** Delivers messages to the carrier from now on; returns the number that names it. */
    long add(QueueCarrier carrier) {
        while (true) {
            long number = RANDOM.nextLong();
            if (number != 0 && carriers.putIfAbsent(number, carrier) == null) {
                return number;
            }
        }
    }

    void remove(QueueCarrier carrier) {
        carriers.remove(carrier.number(), carrier);
    }

    void add(QueueListener listener) {
        listeners.add(listener);
        wake();
    }

    void remove(QueueListener listener) {
        listeners.remove(listener);
    }

    /** How often spinning threads have moved the traffic of all connections over the device. */
    long looks() {
        return looks;
    }

    /** The caller is about to move the traffic. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // a lost increment makes one more thread move the traffic
    void looking() {
        looks++;
    }

    /** Lets the hub's thread attend to the carrier a little later. */
    void attend(QueueCarrier carrier) {
        wanting.add(carrier);
        // Partner: rest, which sets asleep and then checks once more.
        if (asleep) {
            wake();
        }
    }

    /** Wakes the thread, because something has arrived. */
    void wake() {
        // Partner: rest. Before the permit, so that the thread sees it before it parks again.
        hasCome = true;
        LockSupport.unpark(thread);
    }

    // ---- the thread

    private void run() {
        long beaten = System.nanoTime();
        long reminded = beaten;
        boolean isOver = false;
        while (!isOver) {
            try {
                long now = System.nanoTime();
                if (now - reminded >= REMIND_NANOS) {
                    reminded = now;
                    isOver = isLeft(now);
                    remindAll();
                }
                if (now - beaten >= BEAT_NANOS) {
                    beaten = now;
                    carriers.values().forEach(QueueCarrier::beat);
                }
                // Before the check: later arrivals keep the thread awake.
                hasCome = false;
                int came = inbox.take(this::hear);
                for (QueueListener listener : listeners) {
                    came += listener.take();
                }
                look(now);
                if (came == 0 && !isOver) {
                    rest(Math.min(BEAT_NANOS - (now - beaten), REMIND_NANOS - (now - reminded)));
                }
            } catch (ControlPlaneException e) {
                isOver = broken(e);
            } catch (RuntimeException | Error e) {
                LOG.error("a message over virtual queues was not delivered; the connections go on", e);
                LockSupport.parkNanos(TICK_NANOS);
            }
        }
        inbox.close();
        LIVING.decrementAndGet();
    }

    private void remindAll() {
        if (reminds) {
            carriers.values().forEach(QueueCarrier::remind);
        }
    }

    /**
     * Called when the tenant was closed or its agent process has ended. New users get another hub. Returns whether this
     * hub has no users left.
     */
    private boolean broken(ControlPlaneException e) {
        boolean isUsed;
        synchronized (OPEN) {
            OPEN.remove(tenant, this);
            isUsed = users > 0;
        }
        broken = true;
        String why = "this process receives no messages from it any more: " + e.getMessage();
        listeners.forEach(listener -> guarded(() -> listener.lost(this, e.getMessage())));
        carriers.values()
                .forEach(carrier -> guarded(() -> {
                    carrier.end(why);
                    carrier.tellEnd();
                }));
        if (isUsed) {
            LockSupport.parkNanos(REMIND_NANOS);
        }
        return !isUsed;
    }

    /** Even if one listener fails, the others are told. */
    private static void guarded(Runnable word) {
        try {
            word.run();
        } catch (RuntimeException | Error e) {
            LOG.error("a listener or connection was not told that its port is lost; the others are", e);
        }
    }

    private void look(long now) {
        for (QueueCarrier carrier = wanting.poll(); carrier != null; carrier = wanting.poll()) {
            attended.add(carrier);
        }
        if (!attended.isEmpty()) {
            attended.removeIf(carrier -> !carrier.attend(now));
        }
    }

    private void rest(long atMost) {
        if (!attended.isEmpty() || isBlocked()) {
            LockSupport.parkNanos(TICK_NANOS);
            return;
        }
        asleep = true;
        try {
            // The volatile reads come after the write of asleep: a thread that did not see it is seen here.
            if (wanting.isEmpty() && !hasCome) {
                LockSupport.parkNanos(Math.max(TICK_NANOS, atMost));
            }
        } finally {
            asleep = false;
        }
    }

    /**
     * Whether a port has no memory for messages, and would not report them, or a listener has no place for a client.
     */
    private boolean isBlocked() {
        boolean blocked = inbox.isDry();
        for (QueueListener listener : listeners) {
            blocked |= listener.isBlocked();
        }
        return blocked;
    }

    private void hear(HostId from, ByteBuffer bytes) {
        try {
            QueueMessage message = QueueMessage.read(bytes);
            Optional<QueueCarrier> carrier = Optional.ofNullable(carriers.get(message.to()));
            // Only the peer's host should know the number. The host is checked, too: agents vouch for the sender's
            // host.
            if (carrier.isPresent() && carrier.get().host().equals(from)) {
                carrier.get().receive(message, bytes);
            } else {
                LOG.debug("{} has sent a message for a connection that is not there", from);
            }
        } catch (ForeignPeerException e) {
            turnedAway(from, e.getMessage());
        }
    }

    static void turnedAway(HostId from, String why) {
        LOG.warn("a message from a process of {} is dropped: {}", from, why);
    }
}
