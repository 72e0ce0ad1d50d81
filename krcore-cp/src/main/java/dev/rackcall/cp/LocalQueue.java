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
    private static final CompletionStatus[] STATUSES = CompletionStatus.values();
    private static final CompletionOpcode[] OPCODES = CompletionOpcode.values();

    private final Agent agent;
    private final LocalTenant tenant;
    private final Peer peer;
    private final Lane lane;
    private final LaneShare share;
    private final int depth;
    private final QueueWatcher watcher;
    private final CheckedRequest checked = new CheckedRequest();
    private final long[] ids;
    private final int[] bytes;
    private final byte[] statuses;
    private final byte[] opcodes;
    /** This and what follows is guarded by the monitor. */
    private int oldest;

    private int ready;
    private int underWay;
    private boolean isRefusalDue;
    private long refusedId;
    private CompletionStatus refusedWith = CompletionStatus.SUCCESS;
    private Optional<String> failure = Optional.empty();
    private boolean closed;
    private long ended;

    LocalQueue(Agent agent, LocalTenant tenant, Peer peer, int depth, QueueWatcher watcher) {
        this.watcher = watcher;
        this.agent = agent;
        this.tenant = tenant;
        this.peer = peer;
        lane = peer.lane();
        share = lane.share(tenant);
        this.depth = depth;
        ids = new long[depth];
        bytes = new int[depth];
        statuses = new byte[depth];
        opcodes = new byte[depth];
    }

    LocalTenant tenant() {
        return tenant;
    }

    /** Its tenant's part of the lane. */
    LaneShare share() {
        return share;
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
            return lane.post(this, checked);
        }
        if (status == CompletionStatus.RETRY_EXCEEDED) {
            agent.doubt(peer);
        }
        refuse(status);
        return true;
    }

    private synchronized boolean hasRoom() {
        if (closed || failure.isPresent()) {
            throw new ControlPlaneException(
                    Kind.QUEUE_FAILED,
                    "the virtual queue to " + peer + " takes no requests: " + failure.orElse("it is closed")
                            + "; connect again");
        }
        return underWay + ready < depth;
    }

    private synchronized void refuse(CompletionStatus status) {
        isRefusalDue = true;
        refusedId = checked.id();
        refusedWith = status;
        failure = Optional.of(checked.problem());
        ended++;
        watcher.changed(this);
    }

    /** A request is about to be posted, with the lane's monitor. Returns false if this queue was closed meanwhile. */
    synchronized boolean posting() {
        if (!closed) {
            underWay++;
        }
        return !closed;
    }

    /** It was not, for want of room. Called with the lane's monitor. */
    synchronized void notPosted() {
        underWay--;
    }

    /** Called with the lane's monitor. */
    synchronized void completed(
            long id, CompletionStatus status, CompletionOpcode opcode, int length, boolean isSignaled) {
        underWay--;
        ended++;
        watcher.changed(this);
        boolean isSuccess = status == CompletionStatus.SUCCESS;
        if (!isSuccess && failure.isEmpty()) {
            failure = Optional.of(opcode + " with id " + id + " ended with " + status);
        }
        if (closed || (isSuccess && !isSignaled)) {
            return;
        }
        int place = (oldest + ready++) % depth;
        ids[place] = id;
        bytes[place] = length;
        statuses[place] = (byte) status.ordinal();
        opcodes[place] = (byte) opcode.ordinal();
    }

    @Override
    public int pop(Completions batch) {
        int count = take(batch);
        if (count == 0 && isUnderWay()) {
            lane.poll();
            count = take(batch);
        }
        return count;
    }

    private synchronized boolean isUnderWay() {
        return underWay > 0;
    }

    /** Requests that have ended, also those of which nobody is told. */
    synchronized long ended() {
        return ended;
    }

    /** Whether nothing is under way and nothing waits to be popped. */
    synchronized boolean isQuiet() {
        return underWay == 0 && ready == 0 && !isRefusalDue;
    }

    /** As {@link #pop}, without asking the device. */
    synchronized int take(Completions batch) {
        int count = Math.min(ready, batch.capacity());
        for (int i = 0; i < count; i++) {
            batch.set(i, ids[oldest], STATUSES[statuses[oldest]], OPCODES[opcodes[oldest]], bytes[oldest], 0);
            oldest = (oldest + 1) % depth;
        }
        ready -= count;
        if (isRefusalDue && ready == 0 && underWay == 0 && count < batch.capacity()) {
            // After all that were pushed before it.
            isRefusalDue = false;
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
        tenant.forget(this);
        lane.release(share);
        agent.peers().release(peer);
    }
}
