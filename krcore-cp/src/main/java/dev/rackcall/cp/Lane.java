package dev.rackcall.cp;

import dev.rackcall.verbs.CompletionOpcode;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionStatus;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.WorkRequest;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/**
 * A queue pair that virtual queues share. Every request on it is signaled, since an unsignaled one of somebody would hold others' places, and is
 * kept until it completes: when one fails and takes the queue pair down, those of others that were flushed are posted again, in order.
 * Whoever pushes or pops works for all. Guarded by its monitor; of other monitors it takes a virtual queue's only.
 */
final class Lane {
    private static final int NUMBER_BITS = 40;
    private static final long NUMBER_MASK = (1L << NUMBER_BITS) - 1;
    private static final long DRAIN_NANOS = 1_000_000_000L;

    /** A request that is under way. */
    private static final class Slot {
        final WorkRequest request = WorkRequest.create(CheckedRequest.MAX_SEGMENTS, CheckedRequest.MAX_INLINE);
        LocalQueue queue;
        CompletionOpcode opcode = CompletionOpcode.UNKNOWN;
        long id;
        int bytes;
        boolean signaled;
    }

    private final QueuePair queuePair;
    private final CompletionQueue completions;
    private final Consumer<Peer> doubted;
    private final Slot[] slots;
    private final Completions batch = Completions.create(32);
    /** Lives of the queue pair; completions of former ones are stale. */
    private long life;
    /** Numbers of the oldest request and of the next one. */
    private long first;

    private long next;
    private long recoveries;

    /** @param doubted is told about peers whose metadata may be stale */
    Lane(DeviceEnd end, int depth, Consumer<Peer> doubted) {
        this.doubted = doubted;
        completions = end.polledQueue(4 * depth);
        queuePair = end.initiator(completions, depth, CheckedRequest.MAX_SEGMENTS, CheckedRequest.MAX_INLINE);
        slots = new Slot[depth];
        for (int i = 0; i < depth; i++) {
            slots[i] = new Slot();
        }
    }

    /**
     * Posts a request that was checked. A tenant may take a place as long as it has fewer than are free: so however many tenants take all
     * they get, some places are left for one more.
     *
     * @return false if there is no room now, or the virtual queue is closed
     */
    synchronized boolean post(LocalQueue queue, CheckedRequest request) {
        if (!hasRoom(queue.tenant())) {
            poll();
            if (!hasRoom(queue.tenant())) {
                return false;
            }
        }
        Slot slot = slot(next);
        request.write(slot.request, queue.peer().target(), number(next));
        slot.queue = queue;
        slot.id = request.id();
        slot.bytes = request.bytes();
        slot.signaled = request.isSignaled();
        slot.opcode = CompletionOpcode.of(request.opcode());
        // Before the queue is asked whether it is open: who closes it then sees that its peer is in use.
        AtomicInteger underWay = queue.peer().underWay();
        underWay.incrementAndGet();
        if (!queue.posting()) {
            underWay.decrementAndGet();
            return false;
        }
        if (!queuePair.postSend(slot.request)) {
            underWay.decrementAndGet();
            queue.notPosted();
            return false;
        }
        next++;
        queue.tenant().hold(1);
        return true;
    }

    private boolean hasRoom(LocalTenant tenant) {
        int used = (int) (next - first);
        return tenant.held() < slots.length - used;
    }

    /** As {@link #poll}; returns whether anything was under way. */
    synchronized boolean pollIfBusy() {
        boolean busy = next != first;
        if (busy) {
            poll();
        }
        return busy;
    }

    /** Hands completions to the virtual queues they belong to. */
    synchronized void poll() {
        for (int count = completions.poll(batch); count > 0; count = completions.poll(batch)) {
            for (int i = 0; i < count; i++) {
                if (batch.id(i) != number(first) || first == next) {
                    // Of a former life: what became of the request was settled at its end.
                    continue;
                }
                if (batch.isSuccess(i)) {
                    end(slot(first), CompletionStatus.SUCCESS);
                    first++;
                } else {
                    recover(batch.status(i));
                }
            }
        }
    }

    /** The oldest request has failed, and the queue pair with it. */
    private void recover(CompletionStatus status) {
        recoveries++;
        Slot failed = slot(first++);
        LocalQueue culprit = failed.queue;
        Peer peer = culprit.peer();
        boolean isSilent = isSilence(status);
        if (isSilent) {
            peer.fellSilent();
        }
        end(failed, status);
        Slot[] rest = new Slot[(int) (next - first)];
        for (int i = 0; i < rest.length; i++) {
            rest[i] = slot(first + i);
        }
        long kept = first;
        long dropped = next;
        for (Slot slot : rest) {
            // What was sent to a peer that fell silent may have happened; all else was never done.
            if (slot.queue == culprit || (isSilent && slot.queue.peer() == peer)) {
                end(slot, CompletionStatus.FLUSHED);
                slots[(int) (--dropped % slots.length)] = slot;
            } else {
                slots[(int) (kept++ % slots.length)] = slot;
            }
        }
        next = kept;
        doubted.accept(peer);
        revive();
    }

    private void revive() {
        queuePair.toReset();
        DeviceEnd.startInitiator(queuePair);
        life++;
        for (long i = first; i < next; i++) {
            if (!queuePair.postSend(slot(i).request.id(number(i)))) {
                throw new IllegalStateException("a queue pair took " + (i - first) + " of the " + (next - first)
                        + " requests that it had taken before its reset");
            }
        }
    }

    private static boolean isSilence(CompletionStatus status) {
        return status == CompletionStatus.RETRY_EXCEEDED || status == CompletionStatus.RESPONSE_TIMEOUT;
    }

    private static void end(Slot slot, CompletionStatus status) {
        LocalQueue queue = slot.queue;
        queue.tenant().hold(-1);
        queue.peer().underWay().decrementAndGet();
        queue.completed(slot.id, status, slot.opcode, slot.bytes, slot.signaled);
    }

    private Slot slot(long number) {
        return slots[(int) (number % slots.length)];
    }

    private long number(long request) {
        return life << NUMBER_BITS | (request & NUMBER_MASK);
    }

    /** How often the queue pair was brought back after a failure. */
    synchronized long recoveries() {
        return recoveries;
    }

    /** Waits until no request of this tenant is under way, a second at most. */
    void drain(LocalTenant tenant) {
        long start = System.nanoTime();
        while (System.nanoTime() - start < DRAIN_NANOS) {
            synchronized (this) {
                poll();
                if (tenant.held() == 0) {
                    return;
                }
            }
            Thread.onSpinWait();
        }
    }
}
