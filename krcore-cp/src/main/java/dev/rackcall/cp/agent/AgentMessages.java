package dev.rackcall.cp.agent;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.table.HostRecord;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.VerbsException;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Sends and receives an agent's messages. Messages of peers arrive in one shared receive queue and go from there to
 * ports; replies go to the virtual queue that sent the message. A thread empties the receive queue, so that an idle
 * tenant does not block others; threads that poll empty it, too. Any thread may use it.
 */
final class AgentMessages implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AgentMessages.class);
    private static final Duration TICK = Duration.ofMillis(50);
    private static final long PROBE_NANOS = 1_000_000_000L;
    private static final long PAUSE_NANOS = 50_000;
    private static final Duration END_TIME = Duration.ofSeconds(5);

    private final HostId host;
    private final HostRecord self;
    private final MessageReceives receives;
    private final MessageSlots slots;
    private final Runnable lanes;
    private final AtomicLong queueNumbers = new AtomicLong();
    private final ReentrantLock polling = new ReentrantLock();
    private final Map<Integer, LocalPort> ports = new ConcurrentHashMap<>();
    /** Virtual queues that have sent messages, by number. */
    private final Map<Long, LocalQueue> senders = new ConcurrentHashMap<>();

    private final AtomicInteger reading = new AtomicInteger();
    private final MessageReplies answers;
    private final Consumer<PortMessage> learner;
    private final Thread thread;
    private boolean started;
    private volatile boolean closed;

    /**
     * @param self the record by which peers reach this host
     * @param lanes handles the completions of all lanes
     * @param connector connects a virtual queue of the agent's own to a host
     * @param learner takes the regions that a message names
     */
    AgentMessages(
            HostId host,
            HostRecord self,
            MessageReceives receives,
            MessageSlots slots,
            Runnable lanes,
            BiFunction<HostId, HostRecord, LocalQueue> connector,
            Consumer<PortMessage> learner) {
        this.learner = learner;
        this.host = host;
        this.self = self;
        this.receives = receives;
        this.slots = slots;
        this.lanes = lanes;
        answers = new MessageReplies(host, self, connector);
        thread = Thread.ofPlatform().daemon().name("rackcall-messages-" + host).unstarted(this::run);
    }

    HostId host() {
        return host;
    }

    HostRecord self() {
        return self;
    }

    MessageSlots slots() {
        return slots;
    }

    long nextQueueNumber() {
        return queueNumbers.incrementAndGet();
    }

    /** @throws ControlPlaneException REFUSED if the port is bound */
    LocalPort bind(LocalPort.Owner tenant, int number, int depth, Runnable watcher) {
        LocalPort made = new LocalPort(this, tenant, number, depth, watcher);
        LocalPort other = ports.putIfAbsent(number, made);
        if (other != null) {
            throw new ControlPlaneException(
                    Kind.REFUSED,
                    "port " + number + " of " + host + " is bound by tenant " + other.tenant() + "; choose another");
        }
        start();
        return made;
    }

    void forget(LocalPort port) {
        ports.remove(port.number(), port);
    }

    /** Accepts replies to this queue's messages from now on. */
    void expect(LocalQueue queue) {
        if (senders.putIfAbsent(queue.number(), queue) == null) {
            start();
            // Another thread may have closed the queue before it was registered here.
            if (queue.isClosed()) {
                forget(queue);
            }
        }
    }

    /** Virtual queues that may get replies. */
    int senders() {
        return senders.size();
    }

    void forget(LocalQueue queue) {
        senders.remove(queue.number(), queue);
    }

    private synchronized void start() {
        if (!started && !closed) {
            started = true;
            thread.start();
        }
    }

    /** Changes the number of ports that fetch a payload now. */
    void reading(int more) {
        reading.addAndGet(more);
    }

    /** Reports to the sender how its message ended. */
    void answer(PortMessage message, CompletionStatus status) {
        answers.add(message, status);
    }

    void pause() {
        LockSupport.parkNanos(PAUSE_NANOS);
    }

    private void run() {
        long probed = System.nanoTime();
        while (!closed) {
            try {
                receives.requestNotification();
                // Waits for a thread that polls: what came after its poll, and before the request, is not announced.
                polling.lock();
                if (pollLocked()) {
                    continue;
                }
                if (reading.get() > 0 || answers.areWaiting()) {
                    pause();
                } else {
                    receives.await(TICK);
                }
                if (System.nanoTime() - probed > PROBE_NANOS) {
                    probed = System.nanoTime();
                    senders.values().forEach(LocalQueue::probe);
                    lanes.run();
                }
            } catch (RuntimeException e) {
                if (!closed) {
                    LOG.warn("messages of {} continue after a failure", host, e);
                    pause();
                }
            }
        }
    }

    /** Takes messages that have arrived, unless another thread is doing so; returns whether there were any. */
    boolean poll() {
        return polling.tryLock() && pollLocked();
    }

    /** Releases the lock. */
    private boolean pollLocked() {
        try {
            boolean isAny = receives.poll(this::take);
            if (reading.get() > 0) {
                lanes.run();
                ports.values().forEach(LocalPort::step);
            }
            answers.flush();
            return isAny;
        } finally {
            polling.unlock();
        }
    }

    private void take(MemorySegment memory, long at, int bytes) {
        PortMessage message;
        try {
            message = PortMessage.read(memory, at, bytes);
        } catch (IllegalArgumentException malformed) {
            LOG.debug("{} drops {}", host, malformed.getMessage());
            return;
        }
        switch (message.kind()) {
            case PortMessage.ANSWER -> {
                LocalQueue queue = senders.get(message.queue());
                if (queue != null && queue.host().equals(message.host())) {
                    queue.answered(message.number(), CompletionStatus.ofCode(message.port()));
                }
            }
            case PortMessage.PROBE -> {
                // This host will not reply to the message any more: its reply was lost, or arrived before this probe.
                if (ports.values().stream().noneMatch(port -> port.holds(message))) {
                    answer(message, CompletionStatus.FLUSHED);
                }
            }
            default -> {
                LocalPort port = ports.get(message.port());
                if (port == null) {
                    answer(message, CompletionStatus.REMOTE_INVALID_REQUEST);
                } else {
                    learnRegions(message);
                    port.arrived(message);
                }
            }
        }
    }

    private void learnRegions(PortMessage message) {
        if (message.regions().isEmpty()) {
            return;
        }
        try {
            learner.accept(message);
        } catch (ControlPlaneException | VerbsException | IllegalArgumentException e) {
            // The regions are looked up when they are used.
            LOG.debug("{} does not learn regions of {}: {}", host, message.host(), e.getMessage());
        }
    }

    /** Ends the thread. */
    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            if (!started) {
                return;
            }
        }
        try {
            if (!thread.join(END_TIME)) {
                LOG.warn("messages of {} have not ended in {} s", host, END_TIME.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
