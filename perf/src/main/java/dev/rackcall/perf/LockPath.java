package dev.rackcall.perf;

import dev.rackcall.lock.LockPeers;
import dev.rackcall.lock.LockTable;
import dev.rackcall.lock.RemoteTable;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.AddressVector;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.InitAttributes;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.ProtectionDomain;
import dev.rackcall.verbs.QueuePair;
import dev.rackcall.verbs.QueuePairSpec;
import dev.rackcall.verbs.QueuePairType;
import dev.rackcall.verbs.ReadyToReceive;
import dev.rackcall.verbs.ReadyToSend;
import dev.rackcall.verbs.WorkRequest;
import java.lang.foreign.Arena;
import java.lang.foreign.ValueLayout;
import java.util.EnumSet;

/** One thread's queue pair to a node, and the operations that the baselines need. Confined to that thread. */
final class LockPath implements AutoCloseable {
    private static final int DEPTH = 64;
    private static final int UNSIGNALED_AT_MOST = 16;
    private static final int SPINS = 50;
    private static final long PATIENCE_NANOS = 30_000_000_000L;

    private final CompletionQueue completions;
    private final MemoryRegion scratch;
    private final QueuePair queuePair;
    private final long tableAddress;
    private final int key;
    private final WorkRequest request = WorkRequest.create(1, Long.BYTES);
    private final Completions batch = Completions.create(1);
    private int unsignaled;

    LockPath(Context context, ProtectionDomain domain, long tableAddress, int key) {
        // The device works by itself, as one of metal does: its loopback then costs what another node costs.
        completions = context.createCompletionQueue(CompletionQueueSpec.of(DEPTH));
        scratch = domain.register(
                Arena.ofAuto().allocate(LockTable.SCRATCH_BYTES, LockNode.LINE), EnumSet.allOf(Access.class));
        queuePair = queuePair(domain, completions);
        this.tableAddress = tableAddress;
        this.key = key;
    }

    static QueuePair queuePair(ProtectionDomain domain, CompletionQueue completions) {
        QueuePair made = domain.createQueuePair(QueuePairSpec.of(QueuePairType.RC, completions)
                .withDepth(DEPTH, 1)
                .withInline(Long.BYTES));
        made.toInit(InitAttributes.connected());
        return made;
    }

    int number() {
        return queuePair.number();
    }

    void connect(AddressVector path, int number) {
        connect(queuePair, path, number);
    }

    static void connect(QueuePair one, AddressVector path, int number) {
        one.toReadyToReceive(ReadyToReceive.from(path, number));
        one.toReadyToSend(ReadyToSend.defaults());
    }

    /** For an ALock session, which then has the path for itself. */
    RemoteTable link() {
        return new RemoteTable(queuePair, completions, scratch, tableAddress, key);
    }

    /** For ringing the bells of this path's node, for which it then is alone. */
    void addTo(LockPeers peers, int node) {
        peers.add(node, queuePair, completions);
    }

    /** Returns what was there. */
    long compareAndSwap(long address, long expected, long desired) {
        run(request.compareAndSwap(address, key, expected, desired).from(scratch, 0, Long.BYTES));
        return scratch.memory().get(ValueLayout.JAVA_LONG, 0);
    }

    /** Sends a word off, and waits for it now and then only. */
    void write(long address, long value) {
        WorkRequest write = request.write(address, key).inline(value);
        if (++unsignaled < UNSIGNALED_AT_MOST) {
            post(write);
        } else {
            run(write);
        }
    }

    /** Moves the traffic of the node's device while this thread waits for a WRITE into its memory. */
    void help() {
        if (completions.poll(batch) != 0) {
            throw new IllegalStateException(
                    "a lock's request ended with " + batch.status(0) + " though nobody waited for it");
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
