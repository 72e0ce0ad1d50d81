package dev.rackcall.perf;

import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Gid;
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
import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;

/** One end of reliable connections that are made anew each time, on a device that stays open. Confined to one thread. */
final class ConnectEnd implements AutoCloseable {
    /** GID, queue pair number, address and key of the memory. */
    static final int DESCRIPTION_BYTES = Gid.BYTES + 4 + 8 + 4;

    private static final int READ_BYTES = 512;
    private static final int DEPTH = 16;

    private final Context context = BenchDevice.get().open();
    private final BenchDevice.Place place = BenchDevice.Place.of(context);
    private final ProtectionDomain domain = context.allocateProtectionDomain();
    private final CompletionQueue completions =
            context.createCompletionQueue(CompletionQueueSpec.of(4 * DEPTH).polledBusily());
    private final MemoryRegion region =
            domain.register(Arena.global().allocate(4096, 4096), EnumSet.allOf(Access.class));
    private final Deque<QueuePair> queuePairs = new ArrayDeque<>();
    private final WorkRequest request = WorkRequest.create(1, 0);
    private final Completions batch = Completions.create(4);

    /** Makes a queue pair that can be told to the peer. */
    void prepare() {
        QueuePair made = domain.createQueuePair(
                QueuePairSpec.of(QueuePairType.RC, completions).withDepth(DEPTH, DEPTH));
        made.toInit(InitAttributes.connected());
        queuePairs.push(made);
    }

    /** Connects the newest queue pair. */
    void connect(Gid gid, int number) {
        QueuePair newest = queuePairs.getFirst();
        newest.toReadyToReceive(ReadyToReceive.from(place.pathTo(gid), number));
        newest.toReadyToSend(ReadyToSend.defaults());
    }

    byte[] describe() {
        Gid gid = place.gid();
        return ByteBuffer.allocate(DESCRIPTION_BYTES)
                .putLong(gid.high())
                .putLong(gid.low())
                .putInt(queuePairs.getFirst().number())
                .putLong(region.address())
                .putInt(region.remoteKey())
                .array();
    }

    /** READs half as much as a look-up in the meta table does, and waits for it. */
    void read(long address, int key, long number) {
        request.read(address, key).from(region, 0, READ_BYTES).id(number).signaled();
        queuePairs.getFirst().postSend(request);
        long start = System.nanoTime();
        while (completions.poll(batch) == 0) {
            if (System.nanoTime() - start > ClientSide.CALL_BOUND_NANOS) {
                throw new IllegalStateException("a READ has not ended within 10 s");
            }
        }
        if (!batch.isSuccess(0) || batch.id(0) != number) {
            throw new IllegalStateException("READ " + number + " ended with " + batch.status(0));
        }
    }

    void closeFormer() {
        while (queuePairs.size() > 1) {
            queuePairs.removeLast().close();
        }
    }

    void closeNewest() {
        queuePairs.pop().close();
    }

    @Override
    public void close() {
        queuePairs.forEach(QueuePair::close);
        region.close();
        completions.close();
        domain.close();
        context.close();
    }
}
