package dev.rackcall.cp;

import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.QueuePairState;
import dev.rackcall.verbs.WorkRequest;
import java.util.Optional;

/**
 * A queue to one host that behaves like a reliable queue pair with a completion queue of its own, and is neither: requests go over queue pairs
 * that many share. READ, WRITE and atomics, in order. Each request is copied and checked before it gets there. The first that is refused or
 * fails completes with an error and moves this queue, and only this one, to its error state, in which it takes no more.
 *
 * <p>Pushing belongs to one thread at a time, popping to one thread at a time. Neither makes objects while requests go to the same host and its
 * regions are known.
 */
public final class VirtualQueue implements AutoCloseable {
    private static final CompletionStatus[] STATUSES = CompletionStatus.values();
    private static final CompletionOpcode[] OPCODES = CompletionOpcode.values();

    private final Agent agent;
    private final Tenant tenant;
    private final Peer peer;
    private final int depth;
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

    VirtualQueue(Agent agent, Tenant tenant, Peer peer, int depth) {
        this.agent = agent;
        this.tenant = tenant;
        this.peer = peer;
        this.depth = depth;
        ids = new long[depth];
        bytes = new int[depth];
        statuses = new byte[depth];
        opcodes = new byte[depth];
    }

    Tenant tenant() {
        return tenant;
    }

    Peer peer() {
        return peer;
    }

    /** The host it leads to. */
    public HostId host() {
        return peer.host();
    }

    /** Which life of the host it leads to: after a restart the host has another one, and this queue an error. */
    public int epoch() {
        return peer.record().epoch();
    }

    /** READY_TO_SEND, ERROR, or RESET once closed. */
    public synchronized QueuePairState state() {
        if (closed) {
            return QueuePairState.RESET;
        }
        return failure.isEmpty() ? QueuePairState.READY_TO_SEND : QueuePairState.ERROR;
    }

    /** Why it is in its error state, and what to do. */
    public synchronized Optional<String> failure() {
        return failure;
    }

    /**
     * Pushes a request; it may be used again at once. Its destination is ignored, its memory belongs to the device until the completion. The
     * first request to each memory region of the peer, and one each second, waits for a READ.
     *
     * @return false if there is no room now: pop completions, and try again
     * @throws ControlPlaneException QUEUE_FAILED if this queue is closed or in its error state
     */
    public boolean push(WorkRequest request) {
        if (!hasRoom()) {
            return false;
        }
        CompletionStatus status = checked.check(request, tenant, peer);
        if (status == CompletionStatus.SUCCESS) {
            return agent.lane().post(this, checked);
        }
        if (status == CompletionStatus.RETRY_EXCEEDED) {
            agent.doubt(peer);
        }
        refuse(status);
        return true;
    }

    /**
     * Pushes the first {@code count} requests of this list, in order.
     *
     * @return how many were taken; fewer if there was no room, or after one that was refused
     */
    public int push(WorkRequest[] requests, int count) {
        for (int i = 0; i < count; i++) {
            if ((i > 0 && state() == QueuePairState.ERROR) || !push(requests[i])) {
                return i;
            }
        }
        return count;
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

    /**
     * Takes completions that are there, in order, up to the batch's room. Never waits.
     *
     * @return how many entries of the batch are filled
     */
    public int pop(Completions batch) {
        int count = take(batch);
        if (count == 0 && isUnderWay()) {
            agent.lane().poll();
            count = take(batch);
        }
        return count;
    }

    private synchronized boolean isUnderWay() {
        return underWay > 0;
    }

    private synchronized int take(Completions batch) {
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

    /** Ends it. What is under way happens or not; nobody hears of it. */
    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
        }
        tenant.forget(this);
        agent.peers().release(peer);
    }
}
