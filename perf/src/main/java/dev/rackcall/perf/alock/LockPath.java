package dev.rackcall.perf.alock;

import dev.rackcall.lock.LockPeers;
import dev.rackcall.lock.LockTable;
import dev.rackcall.lock.RemoteTable;
import dev.rackcall.perf.rdma.RcAddress;
import dev.rackcall.perf.rdma.RcDevice;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;

/** One thread's queue pair to a node, and the operations that the baselines need. Confined to that thread. */
final class LockPath implements AutoCloseable {
    static final int DEPTH = 64;
    private static final int UNSIGNALED_AT_MOST = 16;
    private static final int SPINS = 50;
    private static final long PATIENCE_NANOS = 30_000_000_000L;

    private final RcDevice device;
    private final CompletionQueue completions;
    private final MemoryRegion scratch;
    private final QueuePair queuePair;
    private final long tableAddress;
    private final int key;
    private final WorkRequest request = WorkRequest.create(1, Long.BYTES);
    private final Completions batch = Completions.create(1);
    private int unsignaled;

    LockPath(RcDevice device, long tableAddress, int key) {
        this.device = device;
        // Not polled busily: the device works on its own thread, as hardware does, so loopback costs as much as another
        // node.
        completions = device.completions(CompletionQueueSpec.of(DEPTH));
        scratch = device.register(
                Arena.ofAuto().allocate(LockTable.SCRATCH_BYTES, LockNode.LINE), EnumSet.allOf(Access.class));
        queuePair = queuePair(device, completions);
        this.tableAddress = tableAddress;
        this.key = key;
    }

    static QueuePair queuePair(RcDevice device, CompletionQueue completions) {
        return device.queuePair(QueuePairSpec.of(QueuePairType.RC, completions)
                .withDepth(DEPTH, 1)
                .withInline(Long.BYTES));
    }

    RcAddress address() {
        return device.address(queuePair);
    }

    void connect(RcAddress peer) {
        device.connect(queuePair, peer);
    }

    /** The path as an ALock session uses it; the path then has no other use. */
    RemoteTable link() {
        return new RemoteTable(queuePair, completions, scratch, tableAddress, key);
    }

    /** For ringing the bells of this path's node; the path then has no other use. */
    void addTo(LockPeers peers, int node) {
        peers.add(node, queuePair, completions);
    }

    /** Returns the word's former value. */
    long compareAndSwap(long address, long expected, long desired) {
        run(request.compareAndSwap(address, key, expected, desired).from(scratch, 0, Long.BYTES));
        return scratch.memory().get(ValueLayout.JAVA_LONG, 0);
    }

    /** Sends a word, and waits only for every 16th completion. */
    void write(long address, long value) {
        WorkRequest write = request.write(address, key).inline(value);
        if (++unsignaled < UNSIGNALED_AT_MOST) {
            post(write);
        } else {
            run(write);
        }
    }

    /** Lets the node's device make progress while this thread waits for a WRITE into its memory. */
    void help() {
        if (completions.poll(batch) != 0) {
            throw new IllegalStateException(
                    "a lock's request completed with " + batch.status(0) + " though it was not signaled");
        }
    }

    private void run(WorkRequest last) {
        unsignaled = 0;
        post(last.signaled());
        long start = System.nanoTime();
        int polls = 0;
        while (completions.poll(batch) == 0) {
            if (++polls < SPINS) {
                Thread.onSpinWait();
                continue;
            }
            Thread.yield();
            if (System.nanoTime() - start > PATIENCE_NANOS) {
                throw new IllegalStateException("a lock's node has not answered for 30 s");
            }
        }
        if (!batch.isSuccess(0)) {
            throw new IllegalStateException("a lock's request ended with " + batch.status(0));
        }
    }

    private void post(WorkRequest work) {
        if (!queuePair.postSend(work)) {
            throw new IllegalStateException("a lock's send queue is full");
        }
    }

    @Override
    public void close() {
        queuePair.close();
        scratch.close();
        completions.close();
    }
}
