package dev.rackcall.cp;

import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.MemorySegment;
import java.util.Optional;

/** A virtual queue of an agent in this process. */
final class LocalQueue implements VirtualQueue {
    /** In place of a request's place in this queue: it has none. */
    static final long INTERNAL = -1;

    static final long CLOSED = -2;

    /** A lane, and its tenant's part of it. */
    private record Route(Lane lane, LaneShare share) {
        static Route over(Lane lane, LocalTenant tenant) {
            return new Route(lane, lane.share(tenant));
        }

        boolean post(LocalQueue queue, CheckedRequest request) {
            return lane.post(queue, share, request);
        }

        void release() {
            lane.release(share);
        }
    }

    private final Agent agent;
    private final LocalTenant tenant;
    private final Peer peer;
    /** What requests go over; another one only when none is under way. Written with the monitor by who pushes. */
    private volatile Route route;

    private final QueueWatcher watcher;
    private final CheckedRequest checked = new CheckedRequest();
    private final CheckedRequest internal = new CheckedRequest();
    private final long number;
    /** This and what follows are guarded by the monitor. */
    private final RequestWindow window;

    /** Requests at the lane. */
    private int underWay;

    private boolean isRefusalDue;
    private long refusedId;
    private CompletionStatus refusedWith = CompletionStatus.SUCCESS;
    private Optional<String> failure = Optional.empty();
    private boolean closed;
    private long refused;
    /** The oldest message without an answer when it was looked for last. */
    private long suspect = -1;

    LocalQueue(Agent agent, LocalTenant tenant, Peer peer, int depth, QueueWatcher watcher) {
        this.watcher = watcher;
        this.agent = agent;
        this.tenant = tenant;
        this.peer = peer;
        route = Route.over(peer.lane(), tenant);
        number = agent.nextQueueNumber();
        window = new RequestWindow(depth);
    }

    /** By which peers know it. */
    long number() {
        return number;
    }

    LocalTenant tenant() {
        return tenant;
    }

    Peer peer() {
        return peer;
    }

    @Override
    public HostId host() {
        return peer.host();
    }

    @Override
    public int epoch() {
        return peer.record().epoch();
    }

    @Override
    public synchronized QueuePairState state() {
        if (closed) {
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

    /** Takes a copy of a request, for {@link #pushCopy}; belongs to the thread that pushes. */
    void copy(WorkRequest request) {
        checked.copy(request);
    }

    /** Takes a copy of another process's request, for {@link #pushCopy}; belongs to the thread that pushes. */
    void copy(MemorySegment ring, long at) {
        checked.copy(ring, at);
    }

    /** Whether pushing the copy asks nobody, so that it takes no time. */
    boolean isQuickToPush() {
        return peer.isSilent() || checked.isKnown(peer);
    }

    /** Pushes the copy; as {@link #push}. */
    boolean pushCopy() {
        return hasRoom() && post();
    }

    private boolean post() {
        CompletionStatus status = checked.check(tenant, peer);
        if (status == CompletionStatus.SUCCESS) {
            return isOnItsLane() && (checked.isMessage() ? postMessage() : route.post(this, checked));
        }
        if (status == CompletionStatus.RETRY_EXCEEDED) {
            agent.doubt(peer);
        }
        refuse(status);
        return true;
    }

    /** Takes over to the lane that the peer has now; returns false if what is under way on the former one must end first. */
    private boolean isOnItsLane() {
        Route former = route;
        Lane now = peer.lane();
        if (former.lane() == now) {
            return true;
        }
        if (hasSomethingUnderWay()) {
            former.lane().poll();
        }
        if (hasSomethingUnderWay()) {
            return false;
        }
        // Not with the monitor: a lane's monitor is taken before it.
        Route next = Route.over(now, tenant);
        boolean isTaken;
        synchronized (this) {
            isTaken = underWay == 0 && !closed;
            if (isTaken) {
                route = next;
            }
        }
        (isTaken ? former : next).release();
        return isTaken;
    }

    private synchronized boolean hasSomethingUnderWay() {
        return underWay > 0;
    }

    private boolean postMessage() {
        Messages messages = agent.messages();
        byte[] payload = new byte[checked.isSmall() ? checked.bytes() : 0];
        if (checked.isSmall() && !checked.gather(tenant, payload)) {
            refuse(checked.lost());
            return true;
        }
        int slot = messages.slots().claim(tenant.number());
        if (slot < 0) {
            return false;
        }
        messages.slots().write(slot, message(MemorySegment.ofArray(payload)));
        messages.expect(this);
        boolean isPosted = route.post(this, checked.carriedBy(slot));
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
                agent.host(),
                agent.self(),
                tenant.number(),
                checked.bytes(),
                isSmall ? 0 : checked.address(),
                isSmall ? 0 : tenant.remoteKey(checked.localKey()),
                payload);
    }

    /** That of the next request, since one thread pushes at a time. */
    private synchronized long nextToken() {
        return window.next();
    }

    /** Sends a message of the agent itself, of which nobody hears; returns false if there is no room now. */
    boolean send(PortMessage message) {
        MessageSlots slots = agent.messages().slots();
        int slot = slots.claim(MessageSlots.AGENT);
        if (slot < 0) {
            return false;
        }
        slots.write(slot, message);
        boolean isPosted;
        synchronized (internal) {
            isPosted = route.post(this, internal.internal(slot));
        }
        if (!isPosted) {
            slots.free(slot);
        }
        return isPosted;
    }

    /** Makes a request of a message that is posted to the lane. */
    void writeMessage(WorkRequest request, int slot, long id) {
        MessageSlots slots = agent.messages().slots();
        request.send()
                .from(slots.address(slot), slots.bytes(slot), slots.key())
                .id(id)
                .signaled();
    }

    /** Asks for a message that has waited for its answer for long: is the peer there, and does it still have it? */
    void probe() {
        long oldest;
        synchronized (this) {
            oldest = window.oldestUnanswered();
            boolean isOld = oldest >= 0 && oldest == suspect;
            suspect = oldest;
            if (!isOld || closed || failure.isPresent()) {
                return;
            }
        }
        send(PortMessage.about(PortMessage.PROBE, 0, number, oldest, agent.host(), agent.self()));
    }

    private synchronized boolean hasRoom() {
        if (closed || failure.isPresent()) {
            throw new ControlPlaneException(
                    Kind.QUEUE_FAILED,
                    "the virtual queue to " + peer + " takes no requests: " + failure.orElse("it is closed")
                            + "; connect again");
        }
        return window.hasRoom();
    }

    synchronized boolean isClosed() {
        return closed;
    }

    /** Whether it takes requests. */
    synchronized boolean isWorking() {
        return !closed && failure.isEmpty();
    }

    private synchronized void refuse(CompletionStatus status) {
        isRefusalDue = true;
        refusedId = checked.id();
        refusedWith = status;
        fail(checked.problem());
        watcher.changed(this);
    }

    /** With the monitor. What waits for answers may have happened. */
    private void fail(String reason) {
        if (failure.isPresent()) {
            return;
        }
        failure = Optional.of(reason);
        window.flushUnanswered();
    }

    /** A request is about to be posted, with the lane's monitor. Returns its token, INTERNAL, or CLOSED if this queue was closed meanwhile. */
    synchronized long posting(CheckedRequest request) {
        if (closed) {
            return CLOSED;
        }
        underWay++;
        if (request.isInternal()) {
            return INTERNAL;
        }
        return window.take(request);
    }

    /** It was not, for want of room. Called with the lane's monitor. */
    synchronized void notPosted(long token) {
        underWay--;
        if (token != INTERNAL) {
            window.takeBack(token);
        }
    }

    /** Called with the lane's monitor. */
    void completed(long token, CompletionStatus status, CompletionOpcode opcode, int length, int messageSlot) {
        if (messageSlot >= 0) {
            agent.messages().slots().free(messageSlot);
        }
        completed(token, status, opcode, length);
    }

    private synchronized void completed(long token, CompletionStatus status, CompletionOpcode opcode, int length) {
        underWay--;
        if (token != INTERNAL) {
            window.completed(token, status, opcode, length);
        }
        if (status != CompletionStatus.SUCCESS) {
            fail(opcode + (token == INTERNAL ? " of the agent" : " with id " + window.id(token)) + " ended with "
                    + status);
        }
        window.leave(closed);
        watcher.changed(this);
    }

    /** The receiver has said how a message ended. */
    synchronized void answered(long token, CompletionStatus status) {
        if (!window.answered(token, status)) {
            return;
        }
        if (status != CompletionStatus.SUCCESS) {
            fail("the message with id " + window.id(token) + " was refused with " + status + ": "
                    + switch (status) {
                        case REMOTE_INVALID_REQUEST ->
                            "nobody has bound the port, or it is longer than the memory there";
                        case RNR_RETRY_EXCEEDED -> "too many messages wait there";
                        default -> "it may have come or not";
                    });
        }
        window.leave(closed);
        watcher.changed(this);
    }

    @Override
    public int pop(Completions batch) {
        int count = take(batch);
        if (count == 0 && isUnderWay()) {
            route.lane().poll();
            if (isAwaited()) {
                agent.messages().poll();
            }
            count = take(batch);
        }
        return count;
    }

    @Override
    public void look() {
        if (isMovedByLooks()) {
            route.lane().poll();
        }
    }

    @Override
    public boolean isMovedByLooks() {
        return !tenant.isHardware();
    }

    private synchronized boolean isUnderWay() {
        return underWay > 0 || window.unanswered() > 0;
    }

    private synchronized boolean isAwaited() {
        return window.unanswered() > 0;
    }

    /** Requests that have ended and whose completions, if they have one, were taken. */
    synchronized long ended() {
        return window.left() + refused;
    }

    /** Whether nothing is under way and nothing waits to be popped. */
    synchronized boolean isQuiet() {
        return window.isEmpty() && underWay == 0 && !isRefusalDue;
    }

    /** As {@link #pop}, without asking the device. */
    synchronized int take(Completions batch) {
        int count = window.pop(batch, closed);
        if (isRefusalDue && window.isEmpty() && underWay == 0 && count < batch.capacity()) {
            // After all that were pushed before it.
            isRefusalDue = false;
            refused++;
            batch.set(count++, refusedId, refusedWith, CompletionOpcode.UNKNOWN, 0, 0);
        }
        return count;
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        agent.messages().forget(this);
        tenant.forget(this);
        route.release();
        agent.peers().release(peer);
    }
}
