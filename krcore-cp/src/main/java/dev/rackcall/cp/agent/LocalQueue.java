package dev.rackcall.cp.agent;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.cp.lane.LanePeer;
import dev.rackcall.cp.lane.LaneQueue;
import dev.rackcall.cp.lane.LaneTenant;
import dev.rackcall.cp.request.CheckedRequest;
import dev.rackcall.cp.request.TenantMemory;
import dev.rackcall.cp.table.RegionRecord;
import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.Consumer;

/** A virtual queue of an agent in this process. */
public final class LocalQueue extends LaneQueue implements VirtualQueue {
    /** The watcher of a queue whose user polls it. */
    static final Runnable UNWATCHED = () -> {};

    /**
     * The tenant of a queue.
     *
     * @param number by which peers distinguish the tenants of this agent
     * @param depth requests that may be in flight or wait to be popped
     * @param closed called with a queue that has been closed
     */
    record Owner(
            long number,
            TenantMemory memory,
            LaneTenant lanes,
            AgentMessages messages,
            PeerLookup peers,
            int depth,
            Consumer<LocalQueue> closed) {}

    private final Owner tenant;
    private final AgentMessages messages;
    private final Runnable watcher;
    private final CheckedRequest checked = new CheckedRequest();
    private final CheckedRequest internal = new CheckedRequest();
    private final long number;
    /** This and what follows are guarded by the monitor. */
    private final RequestWindow window;

    private boolean isRefusalDue;
    private long refusedId;
    private CompletionStatus refusedWith = CompletionStatus.SUCCESS;
    private Optional<String> failure = Optional.empty();
    private long refused;
    /** The oldest message without a reply at the last probe. */
    private long suspect = -1;

    /** @param watcher runs after completions, with this queue's monitor and perhaps the lane's */
    LocalQueue(Owner tenant, LanePeer peer, Runnable watcher) {
        super(tenant.lanes(), peer);
        this.tenant = tenant;
        this.watcher = watcher;
        messages = tenant.messages();
        number = messages.nextQueueNumber();
        window = new RequestWindow(tenant.depth());
    }

    /** The number by which peers refer to this queue. */
    long number() {
        return number;
    }

    @Override
    public HostId host() {
        return peer().host();
    }

    @Override
    public int epoch() {
        return peer().record().epoch();
    }

    @Override
    public synchronized QueuePairState state() {
        if (wasClosed()) {
            return QueuePairState.RESET;
        }
        return failure.isEmpty() ? QueuePairState.READY_TO_SEND : QueuePairState.ERROR;
    }

    @Override
    public synchronized Optional<String> failure() {
        return failure;
    }

    @Override
    public boolean push(WorkRequest request) {
        if (!hasRoom()) {
            return false;
        }
        checked.copy(request);
        return post();
    }

    @Override
    public boolean push(WorkRequest message, MemoryRegion first, MemoryRegion second) {
        if (!hasRoom()) {
            return false;
        }
        checked.copy(message);
        checked.introduce(RegionRecord.keyOf(first.remoteKey()), RegionRecord.keyOf(second.remoteKey()));
        return post();
    }

    /** Takes a copy of a request, for {@link #pushCopy}; belongs to the thread that pushes. */
    void copy(WorkRequest request) {
        checked.copy(request);
    }

    /** Takes a copy of another process's request, for {@link #pushCopy}; belongs to the thread that pushes. */
    public void copy(MemorySegment ring, long at) {
        checked.copy(ring, at);
    }

    /** Whether pushing the copy never waits, since the remote region is known. */
    public boolean isQuickToPush() {
        return peer().isSilent() || checked.isKnown(peer());
    }

    /** Pushes the copy; as {@link #push}. */
    public boolean pushCopy() {
        return hasRoom() && post();
    }

    private boolean post() {
        CompletionStatus status = checked.check(tenant.memory(), peer());
        if (status == CompletionStatus.SUCCESS) {
            return isOnItsLane() && (checked.isMessage() ? postMessage() : postToLane(checked));
        }
        if (status == CompletionStatus.RETRY_EXCEEDED) {
            tenant.peers().doubt(peer());
        }
        refuse(status);
        return true;
    }

    private boolean postMessage() {
        byte[] payload = new byte[checked.isSmall() ? checked.bytes() : 0];
        if (checked.isSmall() && !checked.gather(tenant.memory(), payload)) {
            refuse(checked.lost());
            return true;
        }
        int slot = messages.slots().claim(tenant.number());
        if (slot < 0) {
            return false;
        }
        messages.slots().write(slot, message(MemorySegment.ofArray(payload)));
        messages.expect(this);
        boolean isPosted = postToLane(checked.carriedBy(slot));
        if (!isPosted) {
            messages.slots().free(slot);
        }
        return isPosted;
    }

    private PortMessage message(MemorySegment payload) {
        boolean isSmall = checked.isSmall();
        return new PortMessage(
                isSmall ? PortMessage.SMALL : PortMessage.LARGE,
                checked.port(),
                number,
                nextToken(),
                messages.host(),
                messages.self(),
                tenant.number(),
                checked.bytes(),
                isSmall ? 0 : checked.address(),
                isSmall ? 0 : tenant.memory().remoteKey(checked.localKey()),
                checked.introduced(tenant.memory()),
                payload);
    }

    /** The token of the next request; only one thread pushes at a time. */
    private synchronized long nextToken() {
        return window.next();
    }

    /** Sends a message of the agent itself, which has no completion; returns false if there is no room now. */
    boolean send(PortMessage message) {
        MessageSlots slots = messages.slots();
        int slot = slots.claim(MessageSlots.AGENT);
        if (slot < 0) {
            return false;
        }
        slots.write(slot, message);
        boolean isPosted;
        synchronized (internal) {
            isPosted = postToLane(internal.internal(slot));
        }
        if (!isPosted) {
            slots.free(slot);
        }
        return isPosted;
    }

    @Override
    protected void writeMessage(WorkRequest request, int slot, long id) {
        MessageSlots slots = messages.slots();
        request.send()
                .from(slots.address(slot), slots.bytes(slot), slots.key())
                .id(id)
                .signaled();
    }

    @Override
    protected void freeMessage(int slot) {
        messages.slots().free(slot);
    }

    /** Sends a probe to the peer if a message has waited long for its reply. */
    void probe() {
        long oldest;
        synchronized (this) {
            oldest = window.oldestUnanswered();
            boolean isOld = oldest >= 0 && oldest == suspect;
            suspect = oldest;
            if (!isOld || wasClosed() || failure.isPresent()) {
                return;
            }
        }
        send(PortMessage.about(PortMessage.PROBE, 0, number, oldest, messages.host(), messages.self()));
    }

    private synchronized boolean hasRoom() {
        if (wasClosed() || failure.isPresent()) {
            throw new ControlPlaneException(
                    Kind.QUEUE_FAILED,
                    "the virtual queue to " + peer() + " takes no requests: " + failure.orElse("it is closed")
                            + "; connect again");
        }
        return window.hasRoom();
    }

    /** Whether it takes requests. */
    synchronized boolean isWorking() {
        return !wasClosed() && failure.isEmpty();
    }

    private synchronized void refuse(CompletionStatus status) {
        isRefusalDue = true;
        refusedId = checked.id();
        refusedWith = status;
        fail(checked.problem());
        watcher.run();
    }

    /** Enters the error state and flushes messages without a reply, which may have arrived. Called with the monitor. */
    private void fail(String reason) {
        if (failure.isPresent()) {
            return;
        }
        failure = Optional.of(reason);
        window.flushUnanswered();
    }

    @Override
    protected long take(CheckedRequest request) {
        return window.take(request);
    }

    @Override
    protected void takeBack(long token) {
        window.takeBack(token);
    }

    @Override
    protected void ended(long token, CompletionStatus status, CompletionOpcode opcode, int length) {
        if (token != INTERNAL) {
            window.completed(token, status, opcode, length);
        }
        if (status != CompletionStatus.SUCCESS) {
            fail(opcode + (token == INTERNAL ? " of the agent" : " with id " + window.id(token)) + " ended with "
                    + status);
        }
        window.leave(wasClosed());
        watcher.run();
    }

    /** The receiver has reported how a message ended. */
    synchronized void answered(long token, CompletionStatus status) {
        if (!window.answered(token, status)) {
            return;
        }
        if (status != CompletionStatus.SUCCESS) {
            fail("the message with id " + window.id(token) + " was refused with " + status + ": "
                    + switch (status) {
                        case REMOTE_INVALID_REQUEST ->
                            "the port is not bound, or the message is longer than the memory given there";
                        case RNR_RETRY_EXCEEDED -> "too many messages wait there";
                        default -> "it may or may not have arrived";
                    });
        }
        window.leave(wasClosed());
        watcher.run();
    }

    @Override
    public int pop(Completions batch) {
        int count = take(batch);
        if (count == 0 && isUnderWay()) {
            pollLane();
            if (isAwaited()) {
                messages.poll();
            }
            count = take(batch);
        }
        return count;
    }

    @Override
    public void look() {
        if (isMovedByLooks()) {
            pollLane();
        }
    }

    @Override
    public void rest() {
        restLane();
    }

    @Override
    public boolean isMovedByLooks() {
        return !tenant.memory().isHardware();
    }

    private synchronized boolean isUnderWay() {
        return isInFlight() || window.unanswered() > 0;
    }

    private synchronized boolean isAwaited() {
        return window.unanswered() > 0;
    }

    /** Requests that have ended and whose completions, if any, were taken. */
    public synchronized long ended() {
        return window.left() + refused;
    }

    /** Whether no request is in flight and no completion waits to be popped. */
    public synchronized boolean isQuiet() {
        return window.isEmpty() && !isInFlight() && !isRefusalDue;
    }

    /** As {@link #pop}, without polling the device. */
    public synchronized int take(Completions batch) {
        int count = window.pop(batch, wasClosed());
        if (isRefusalDue && window.isEmpty() && !isInFlight() && count < batch.capacity()) {
            // The refusal is reported after all requests that were pushed before it.
            isRefusalDue = false;
            refused++;
            batch.set(count++, refusedId, refusedWith, CompletionOpcode.UNKNOWN, 0, 0);
        }
        return count;
    }

    @Override
    public void close() {
        if (beginClose()) {
            messages.forget(this);
            tenant.closed().accept(this);
            leaveLane();
            tenant.peers().release(peer());
        }
    }
}
