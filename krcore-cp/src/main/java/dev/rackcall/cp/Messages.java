package dev.rackcall.cp;

import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionChannel;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.ReceiveRequest;
import dev.rackcall.verbs.SharedReceiveQueue;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.time.Duration;
import java.util.EnumSet;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An agent's messages: what peers SEND comes into one shared receive queue and from there to ports, or is an answer for a virtual queue. A thread empties the receive queue, so
 * that a tenant that does not look keeps nobody waiting; whoever looks does the same. Any thread may use it.
 */
final class Messages implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Messages.class);
    private static final int RECEIVES = 512;
    private static final int SENDS = 512;
    private static final Duration TICK = Duration.ofMillis(50);
    private static final long PROBE_NANOS = 1_000_000_000L;
    private static final long PAUSE_NANOS = 50_000;
    private static final Duration END_TIME = Duration.ofSeconds(5);

    private final Agent agent;
    private final CompletionChannel channel;
    private final CompletionQueue received;
    private final SharedReceiveQueue receives;
    private final MemoryRegion region;
    private final MemorySegment memory;
    private final MessageSlots slots;
    private final ReceiveRequest receive = ReceiveRequest.create(1);
    private final Completions batch = Completions.create(32);
    private final ReentrantLock polling = new ReentrantLock();
    private final Map<Integer, LocalPort> ports = new ConcurrentHashMap<>();
    /** Virtual queues that have sent messages, by number. */
    private final Map<Long, LocalQueue> senders = new ConcurrentHashMap<>();

    private final AtomicInteger reading = new AtomicInteger();
    private final Answers answers;
    private final Thread thread;
    private boolean started;
    private volatile boolean closed;

    Messages(Agent agent, DeviceEnd end) {
        this.agent = agent;
        channel = end.keep(end.context().createCompletionChannel());
        received = end.keep(end.context()
                .createCompletionQueue(CompletionQueueSpec.of(2 * RECEIVES).on(channel)));
        receives = end.keep(end.domain().createSharedReceiveQueue(RECEIVES, 1));
        memory = Arena.ofAuto().allocate((long) RECEIVES * MessageSlots.SLOT_BYTES, 64);
        region = end.keep(end.domain().register(memory, EnumSet.of(Access.LOCAL_WRITE)));
        slots = new MessageSlots(end, SENDS);
        for (int i = 0; i < RECEIVES; i++) {
            postReceive(i);
        }
        answers = new Answers(agent);
        thread = Thread.ofPlatform()
                .daemon()
                .name("rackcall-messages-" + agent.host())
                .unstarted(this::run);
    }

    private void postReceive(int slot) {
        receives.post(receive.start(slot).into(region, (long) slot * MessageSlots.SLOT_BYTES, MessageSlots.SLOT_BYTES));
    }

    /** Where receives complete. */
    CompletionQueue completions() {
        return received;
    }

    SharedReceiveQueue receives() {
        return receives;
    }

    MessageSlots slots() {
        return slots;
    }

    /** @throws ControlPlaneException REFUSED if somebody has this port */
    LocalPort bind(LocalTenant tenant, int number, int depth, Runnable watcher) {
        LocalPort made = new LocalPort(this, tenant, number, depth, watcher);
        LocalPort other = ports.putIfAbsent(number, made);
        if (other != null) {
            throw new ControlPlaneException(
                    Kind.REFUSED,
                    "port " + number + " of " + agent.host() + " is bound by tenant "
                            + other.tenant().name() + "; choose another");
        }
        start();
        return made;
    }

    void forget(LocalPort port) {
        ports.remove(port.number(), port);
    }

    /** Answers to this queue's messages will come. */
    void expect(LocalQueue queue) {
        if (senders.putIfAbsent(queue.number(), queue) == null) {
            start();
            // Closed by another thread meanwhile, which may have looked for it before it was here.
            if (queue.isClosed()) {
                forget(queue);
            }
        }
    }

    /** Virtual queues whose messages may be answered. */
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

    /** One more port, or one less, fetches a payload. */
    void reading(int more) {
        reading.addAndGet(more);
    }

    /** Tells a message's sender how it ended. */
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
                received.requestNotification(false);
                if (poll()) {
                    continue;
                }
                if (reading.get() > 0 || answers.areWaiting()) {
                    pause();
                } else {
                    channel.await(TICK);
                }
                if (System.nanoTime() - probed > PROBE_NANOS) {
                    probed = System.nanoTime();
                    senders.values().forEach(LocalQueue::probe);
                    agent.lanes().pollIfBusy();
                }
            } catch (RuntimeException e) {
                if (!closed) {
                    LOG.warn("messages of {} go on after a failure", agent.host(), e);
                    pause();
                }
            }
        }
    }

    /** Takes what has come, unless another thread is about to do so; returns whether there was something. */
    boolean poll() {
        if (!polling.tryLock()) {
            return false;
        }
        try {
            int count = received.poll(batch);
            for (int i = 0; i < count; i++) {
                int slot = (int) batch.id(i);
                try {
                    if (batch.isSuccess(i)) {
                        take(slot, batch.bytes(i));
                    }
                } catch (RuntimeException | Error e) {
                    LOG.warn("{} drops a message after a failure", agent.host(), e);
                } finally {
                    postReceive(slot);
                }
            }
            if (reading.get() > 0) {
                agent.lanes().pollIfBusy();
                ports.values().forEach(LocalPort::step);
            }
            answers.flush();
            return count > 0;
        } finally {
            polling.unlock();
        }
    }

    private void take(int slot, int bytes) {
        PortMessage message;
        try {
            message = PortMessage.read(memory, (long) slot * MessageSlots.SLOT_BYTES, bytes);
        } catch (IllegalArgumentException malformed) {
            LOG.debug("{} drops {}", agent.host(), malformed.getMessage());
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
                // Whatever became of it, nobody here will say so any more: the answer has got lost, or came before
                // this.
                if (ports.values().stream().noneMatch(port -> port.holds(message))) {
                    answer(message, CompletionStatus.FLUSHED);
                }
            }
            default -> {
                LocalPort port = ports.get(message.port());
                if (port == null) {
                    answer(message, CompletionStatus.REMOTE_INVALID_REQUEST);
                } else {
                    port.arrived(message);
                }
            }
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
                LOG.warn("messages of {} have not ended in {} s", agent.host(), END_TIME.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
