package dev.rackcall.cp.lane;

import dev.rackcall.cp.request.CheckedRequest;
import dev.rackcall.cp.request.PeerHost;
import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.WorkRequest;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * A queue pair that virtual queues share: a DC initiator to many peers, or an RC queue pair to one peer. Every request
 * is signaled, so that its completion frees its place, and is kept until it completes. When a request fails, the queue
 * pair fails with it; the flushed requests of other queues are then posted again, in order. Each thread that pushes or
 * pops handles completions for all queues. Guarded by its monitor; the only other monitor taken inside it is a virtual
 * queue's.
 */
public final class Lane {
    private static final int NUMBER_BITS = 40;
    private static final long NUMBER_MASK = (1L << NUMBER_BITS) - 1;

    /** A request in flight. */
    private static final class Slot {
        final WorkRequest request = WorkRequest.create(CheckedRequest.MAX_SEGMENTS, CheckedRequest.MAX_INLINE);
        LaneQueue queue;
        LaneTenant.Share share;
        CompletionOpcode opcode = CompletionOpcode.UNKNOWN;
        /** Its token in its queue. */
        long token;
        /** The slot of its message, or -1. */
        int message;

        int bytes;
    }

    private final LaneQueuePair pair;
    private final int number;
    private final LaneCompletions completions;
    private final Consumer<PeerHost> doubted;
    private final Map<LaneTenant, LaneTenant.Share> shares = new HashMap<>();
    private final Slot[] slots;
    /** Restarts of the queue pair; completions of earlier lives are stale. */
    private long life;
    /** Numbers of the oldest request and of the next one. */
    private long first;

    private long next;
    private final AtomicLong recoveries = new AtomicLong();
    /** The queue pair is being connected: requests are kept, and posted later. */
    private boolean suspended;
    /** The queue pair cannot be connected. */
    private boolean dead;
    /** No more requests are accepted. */
    private boolean retired;

    /**
     * A lane that keeps its requests until {@link #resume}.
     *
     * @param pair its queue pair
     * @param completions the completion queue of the queue pair
     * @param depth requests that may be in flight
     * @param doubted called with peers whose records may be stale
     */
    Lane(LaneQueuePair pair, LaneCompletions completions, int depth, Consumer<PeerHost> doubted) {
        this.pair = pair;
        number = pair.queuePair().number();
        this.completions = completions;
        this.doubted = doubted;
        suspended = true;
        slots = new Slot[depth];
        for (int i = 0; i < depth; i++) {
            slots[i] = new Slot();
        }
        completions.add(this);
    }

    /** The tenant's share of this lane, for one more of its virtual queues. */
    synchronized LaneTenant.Share share(LaneTenant tenant) {
        LaneTenant.Share share = shares.computeIfAbsent(tenant, LaneTenant.Share::new);
        share.use(1);
        return share;
    }

    synchronized void release(LaneTenant.Share share) {
        if (share.use(-1) == 0) {
            shares.remove(share.tenant(), share);
        }
    }

    /**
     * Posts a checked request. A tenant gets a place only while it holds fewer places than are free, so there is always
     * room for another tenant.
     *
     * @param share the share of the queue's tenant
     * @return false if there is no room now, the virtual queue is closed, or this lane accepts no more requests
     */
    boolean post(LaneQueue queue, LaneTenant.Share share, CheckedRequest request) {
        if (tryPost(queue, share, request)) {
            return true;
        }
        completions.poll();
        return tryPost(queue, share, request);
    }

    /** Accepts no more requests; those in flight end. */
    synchronized void retire() {
        retired = true;
    }

    private synchronized boolean tryPost(LaneQueue queue, LaneTenant.Share share, CheckedRequest request) {
        if (retired || !hasRoom(share)) {
            return false;
        }
        Slot slot = slot(next);
        if (request.messageSlot() < 0) {
            request.write(slot.request, number(next));
        } else {
            queue.writeMessage(slot.request, request.messageSlot(), number(next));
        }
        pair.address(slot.request, queue.peer());
        slot.queue = queue;
        slot.share = share;
        slot.message = request.messageSlot();
        slot.bytes = request.bytes();
        slot.opcode = CompletionOpcode.of(request.opcode());
        // Counted before the check whether the queue is open: a thread that closes it then finds the peer in use.
        AtomicInteger underWay = queue.peer().underWay();
        underWay.incrementAndGet();
        slot.token = queue.posting(request);
        if (slot.token == LaneQueue.CLOSED) {
            underWay.decrementAndGet();
            return false;
        }
        if (!suspended && !dead && !pair.queuePair().postSend(slot.request)) {
            underWay.decrementAndGet();
            queue.notPosted(slot.token);
            return false;
        }
        next++;
        queue.peer().countRequest();
        share.hold(1);
        if (dead) {
            endAll();
        }
        return true;
    }

    private boolean hasRoom(LaneTenant.Share share) {
        int used = (int) (next - first);
        return share.held() < slots.length - used;
    }

    /** Whether requests are in flight. */
    synchronized boolean isBusy() {
        return next != first;
    }

    /** Passes completions, also those of other lanes, to their virtual queues, unless another thread is doing so. */
    void poll() {
        completions.poll();
    }

    /** Called before a thread that polls sleeps. */
    void rest() {
        completions.rest();
    }

    /** Tenants that have virtual queues on it. */
    synchronized int tenants() {
        return shares.size();
    }

    int queuePairNumber() {
        return number;
    }

    /** Handles a completion of its queue pair. */
    synchronized void completed(long id, CompletionStatus status) {
        if (id != number(first) || first == next) {
            // The completion is of an earlier life: the restart has settled its request.
            return;
        }
        if (status == CompletionStatus.SUCCESS) {
            end(slot(first), CompletionStatus.SUCCESS);
            first++;
        } else {
            recover(status);
        }
    }

    /** Restarts the queue pair, which has failed with the oldest request. */
    private void recover(CompletionStatus status) {
        recoveries.incrementAndGet();
        Slot failed = slot(first++);
        LaneQueue culprit = failed.queue;
        PeerHost peer = culprit.peer();
        boolean isSilent = isSilence(status);
        if (isSilent) {
            peer.fellSilent();
        }
        // Called before the failure is reported, so that a new connection does not use stale data.
        doubted.accept(peer);
        end(failed, status);
        // Requests to a silent peer may have been carried out; all others were not.
        drop(slot -> slot.queue == culprit || slot.queue.isClosed() || (isSilent && slot.queue.peer() == peer));
        revive();
    }

    private void revive() {
        suspended = true;
        // Completions of the former life are stale from here on.
        life++;
        pair.restart(this);
    }

    /** Posts the pending requests, when the queue pair is connected or reconnected. */
    synchronized void resume() {
        suspended = false;
        // The memory of a closed queue may be in other use by now.
        drop(slot -> slot.queue.isClosed());
        for (long i = first; i < next; i++) {
            if (!pair.queuePair().postSend(slot(i).request.id(number(i)))) {
                throw new IllegalStateException("a queue pair took " + (i - first) + " of the " + (next - first)
                        + " requests that it has room for");
            }
        }
    }

    /** Ends the pending requests that match, and keeps the others, in order. */
    private void drop(Predicate<Slot> isDropped) {
        Slot[] pending = new Slot[(int) (next - first)];
        for (int i = 0; i < pending.length; i++) {
            pending[i] = slot(first + i);
        }
        long kept = first;
        long dropped = next;
        for (Slot slot : pending) {
            if (isDropped.test(slot)) {
                end(slot, CompletionStatus.FLUSHED);
                slots[(int) (--dropped % slots.length)] = slot;
            } else {
                slots[(int) (kept++ % slots.length)] = slot;
            }
        }
        next = kept;
    }

    /** Ends all requests, when the queue pair cannot be connected: the peer does not reply, or refuses. */
    synchronized void fail(PeerHost peer) {
        dead = true;
        peer.fellSilent();
        doubted.accept(peer);
        endAll();
    }

    private void endAll() {
        for (CompletionStatus status = CompletionStatus.RETRY_EXCEEDED;
                first < next;
                status = CompletionStatus.FLUSHED) {
            end(slot(first++), status);
        }
    }

    private static boolean isSilence(CompletionStatus status) {
        return status == CompletionStatus.RETRY_EXCEEDED || status == CompletionStatus.RESPONSE_TIMEOUT;
    }

    private static void end(Slot slot, CompletionStatus status) {
        LaneQueue queue = slot.queue;
        slot.share.hold(-1);
        queue.peer().underWay().decrementAndGet();
        queue.completed(slot.token, status, slot.opcode, slot.bytes, slot.message);
    }

    private Slot slot(long number) {
        return slots[(int) (number % slots.length)];
    }

    private long number(long request) {
        return life << NUMBER_BITS | (request & NUMBER_MASK);
    }

    /** How often the queue pair was restarted after a failure. */
    long recoveries() {
        return recoveries.get();
    }
}
