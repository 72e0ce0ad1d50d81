package dev.rackcall.cp.agent;

import dev.rackcall.cp.Arrivals;
import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.MessagePort;
import dev.rackcall.cp.request.TenantMemory;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.VerbsException;
import dev.rackcall.verbs.WorkRequest;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A port of an agent in this process. Messages and the memory given for them are matched here, both in order; one
 * payload is READ at a time. Guarded by its monitor, which is taken before those of virtual queues and lanes.
 */
public final class LocalPort implements MessagePort {
    private static final int MAX_WAITING = 1024;
    private static final int MAX_QUEUES = 64;

    /** Memory for one message. */
    private record Given(long address, int length, int key, long id) {}

    private record Arrived(long id, int bytes, long host) {}

    /** A sender of waiting messages; its share of the places is bounded. */
    private record Sender(HostId host, int epoch, long tenant) {}

    /** A payload that is being READ. */
    private record Reading(PortMessage message, Given memory, LocalQueue queue) {}

    /**
     * The tenant that a port belongs to.
     *
     * @param connector connects a virtual queue to a message's sender
     * @param closed called with a port that has been closed
     */
    record Owner(TenantMemory memory, Function<PortMessage, LocalQueue> connector, Consumer<LocalPort> closed) {}

    private final AgentMessages messages;
    private final Owner tenant;
    private final int number;
    private final int depth;
    private final Runnable watcher;
    private final Deque<PortMessage> waiting = new ArrayDeque<>();
    private final Map<Sender, Integer> shares = new HashMap<>();
    private final Deque<Given> given = new ArrayDeque<>();
    private final Deque<Arrived> arrived = new ArrayDeque<>();
    private final Map<HostId, LocalQueue> queues = new HashMap<>();
    private final WorkRequest read = WorkRequest.create(1, 0);
    private final Completions batch = Completions.create(1);
    private Optional<Reading> reading = Optional.empty();
    private boolean closed;

    /**
     * @param depth pieces of memory that may be given and not yet received
     * @param watcher runs when a message has arrived, with this port's monitor
     */
    LocalPort(AgentMessages messages, Owner tenant, int number, int depth, Runnable watcher) {
        this.messages = messages;
        this.tenant = tenant;
        this.number = number;
        this.depth = depth;
        this.watcher = watcher;
    }

    @Override
    public int number() {
        return number;
    }

    /** The name of its tenant. */
    String tenant() {
        return tenant.memory().tenant();
    }

    @Override
    public boolean give(MemoryRegion region, long offset, int length, long id) {
        MessagePort.requireRange(region, offset, length);
        return give(region.address() + offset, length, region.localKey(), id);
    }

    /**
     * As {@link MessagePort#give}.
     *
     * @throws IllegalArgumentException if the tenant may not write that memory
     * @throws ControlPlaneException QUEUE_FAILED if the port or the tenant is closed
     */
    public boolean give(long address, int length, int key, long id) {
        if (length < 0 || !tenant.memory().allows(key, address, length, Access.LOCAL_WRITE.bit())) {
            if (tenant.memory().isClosed()) {
                throw new ControlPlaneException(
                        Kind.QUEUE_FAILED, "port " + number + ": its tenant " + tenant() + " is closed");
            }
            throw new IllegalArgumentException(length + " bytes at " + Long.toHexString(address) + " with local key "
                    + Integer.toHexString(key) + " may not be written by tenant " + tenant());
        }
        synchronized (this) {
            requireOpen();
            if (given.size() + arrived.size() + (reading.isPresent() ? 1 : 0) >= depth) {
                return false;
            }
            given.add(new Given(address, length, key, id));
            step();
            return true;
        }
    }

    private void requireOpen() {
        if (closed) {
            throw new ControlPlaneException(Kind.QUEUE_FAILED, "port " + number + " is closed; bind it again");
        }
    }

    @Override
    public int receive(Arrivals batch) {
        int count = take(batch);
        if (count == 0) {
            messages.poll();
            count = take(batch);
        }
        return count;
    }

    /** As {@link #receive}, without polling the device. */
    public synchronized int take(Arrivals into) {
        if (arrived.isEmpty()) {
            requireOpen();
        }
        int count = 0;
        for (; count < into.capacity() && !arrived.isEmpty(); count++) {
            Arrived next = arrived.poll();
            into.set(count, next.id(), next.bytes(), next.host());
        }
        return count;
    }

    /** Handles a message that has arrived. */
    synchronized void arrived(PortMessage message) {
        Sender sender = sender(message);
        int held = shares.getOrDefault(sender, 0);
        if (closed || held >= MAX_WAITING - waiting.size()) {
            messages.answer(message, CompletionStatus.RNR_RETRY_EXCEEDED);
            return;
        }
        shares.put(sender, held + 1);
        waiting.add(message);
        step();
    }

    private static Sender sender(PortMessage message) {
        return new Sender(message.host(), message.record().epoch(), message.tenant());
    }

    /** Whether the message that this probe is about waits here, or is being fetched. */
    synchronized boolean holds(PortMessage probe) {
        return Stream.concat(waiting.stream(), reading.map(Reading::message).stream())
                .anyMatch(message -> message.number() == probe.number()
                        && message.queue() == probe.queue()
                        && message.host().equals(probe.host())
                        && message.record().epoch() == probe.record().epoch());
    }

    /** Messages that wait for memory. */
    synchronized int waiting() {
        return waiting.size();
    }

    /** Matches messages with memory as far as possible. */
    synchronized void step() {
        while (!closed && (reading.isPresent() ? isRead() : isNextThere())) {
            // Each call handles one message.
        }
    }

    /** Handles the next message if there is memory for it; returns whether it did. */
    private boolean isNextThere() {
        if (waiting.isEmpty() || given.isEmpty()) {
            return false;
        }
        PortMessage message = waiting.poll();
        shares.computeIfPresent(sender(message), (sender, held) -> held == 1 ? null : held - 1);
        if (message.length() > given.peek().length()) {
            messages.answer(message, CompletionStatus.REMOTE_INVALID_REQUEST);
        } else if (message.kind() == PortMessage.SMALL) {
            Given memory = given.poll();
            CompletionStatus status = tenant.memory().write(memory.key(), memory.address(), message.payload())
                    ? CompletionStatus.SUCCESS
                    : CompletionStatus.REMOTE_OPERATION_ERROR;
            finish(message, memory, status);
        } else {
            begin(message, given.poll());
        }
        return true;
    }

    /** READs the payload; on another thread if the region must be looked up first. */
    private void begin(PortMessage message, Given memory) {
        LocalQueue queue;
        try {
            queue = queue(message);
        } catch (ControlPlaneException | VerbsException | IllegalArgumentException e) {
            given.addFirst(memory);
            messages.answer(message, CompletionStatus.RNR_RETRY_EXCEEDED);
            return;
        }
        Reading begun = new Reading(message, memory, queue);
        reading = Optional.of(begun);
        messages.reading(1);
        read.read(message.address(), message.key())
                .from(memory.address(), message.length(), memory.key())
                .id(message.number())
                .signaled();
        queue.copy(read);
        if (!queue.isQuickToPush() || !push(begun)) {
            Thread.ofVirtual().name("rackcall-fetch").start(() -> pushUntilTaken(begun));
        }
    }

    private static boolean push(Reading begun) {
        try {
            return begun.queue().pushCopy();
        } catch (ControlPlaneException failed) {
            // The next check of the queue notices this.
            return true;
        }
    }

    private void pushUntilTaken(Reading begun) {
        while (!push(begun)) {
            messages.pause();
        }
    }

    private LocalQueue queue(PortMessage message) {
        LocalQueue known = queues.get(message.host());
        if (known != null && known.epoch() == message.record().epoch() && known.isWorking()) {
            return known;
        }
        if (known != null) {
            queues.remove(message.host());
            known.close();
        } else if (queues.size() >= MAX_QUEUES) {
            queues.values().forEach(LocalQueue::close);
            queues.clear();
        }
        LocalQueue made = tenant.connector().apply(message);
        queues.put(message.host(), made);
        return made;
    }

    /** Returns whether the READ has ended. */
    private boolean isRead() {
        Reading begun = reading.orElseThrow();
        if (begun.queue().take(batch) == 0 && begun.queue().isWorking()) {
            return false;
        }
        boolean isRead = begun.queue().isWorking();
        reading = Optional.empty();
        messages.reading(-1);
        finish(
                begun.message(),
                begun.memory(),
                isRead ? CompletionStatus.SUCCESS : CompletionStatus.REMOTE_OPERATION_ERROR);
        return true;
    }

    private void finish(PortMessage message, Given memory, CompletionStatus status) {
        messages.answer(message, status);
        if (status == CompletionStatus.SUCCESS) {
            arrived.add(
                    new Arrived(memory.id(), message.length(), message.host().value()));
            watcher.run();
        } else {
            // This memory serves the next message, before all that was given later.
            given.addFirst(memory);
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            reading.ifPresent(begun -> {
                messages.reading(-1);
                messages.answer(begun.message(), CompletionStatus.RNR_RETRY_EXCEEDED);
            });
            reading = Optional.empty();
            waiting.forEach(message -> messages.answer(message, CompletionStatus.RNR_RETRY_EXCEEDED));
            waiting.clear();
            given.clear();
            queues.values().forEach(LocalQueue::close);
            queues.clear();
        }
        messages.forget(this);
        tenant.closed().accept(this);
    }
}
