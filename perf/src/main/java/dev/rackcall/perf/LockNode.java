package dev.rackcall.perf;

import dev.rackcall.rdma.lock.LockBell;
import dev.rackcall.rdma.lock.LockTable;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.ProtectionDomain;
import dev.rackcall.verbs.QueuePair;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

/**
 * A simulated node of the lock benchmark: a software device, and memory that all nodes reach by it. The memory has a table of ALocks, then a line for each lock of the
 * baselines, then a line for each thread of this node, where it waits.
 */
final class LockNode implements AutoCloseable {
    static final int LINE = 64;
    private static final int DEPTH = 64;

    private final Arena arena = Arena.ofShared();
    private final Context context = BenchDevice.get().open();
    private final BenchDevice.Place place = BenchDevice.Place.of(context);
    private final ProtectionDomain domain = context.allocateProtectionDomain();
    private final CompletionQueue completions = context.createCompletionQueue(CompletionQueueSpec.of(DEPTH));
    private final List<LockPath> paths = new ArrayList<>();
    private final List<QueuePair> accepted = new ArrayList<>();
    private final MemorySegment memory;
    private final MemoryRegion region;
    private final LockTable table;
    private final long wordsAt;
    private final long threadsAt;

    LockNode(int locks, int allThreads, int threads) {
        wordsAt = LockTable.bytes(allThreads, locks);
        threadsAt = wordsAt + (long) LINE * locks;
        memory = arena.allocate(threadsAt + (long) LINE * threads, LINE);
        table = LockTable.create(memory, allThreads, locks);
        region = domain.register(memory, EnumSet.allOf(Access.class));
    }

    LockTable table() {
        return table;
    }

    /** The address of a baseline's lock. */
    long word(int index) {
        return region.address() + wordsAt + (long) LINE * index;
    }

    /** The address of what a thread of this node waits for. */
    long thread(int thread) {
        return region.address() + threadsAt + (long) LINE * thread;
    }

    /** Where a thread of this node waits for locks of another one. */
    LockBell bell(int number, int thread, int other) {
        return new LockBell(number, region, threadsAt + (long) LINE * thread + (long) Long.BYTES * other);
    }

    MemorySegment threadMemory(int thread) {
        return memory.asSlice(threadsAt + (long) LINE * thread, LINE);
    }

    /** A way for one thread of this node to that one, which may be this one: then it is a loopback. */
    LockPath path(LockNode to) {
        QueuePair there = LockPath.queuePair(to.domain, to.completions);
        LockPath path = new LockPath(context, domain, to.region.address(), to.region.remoteKey());
        path.connect(place, to.place, there);
        to.accepted.add(there);
        paths.add(path);
        return path;
    }

    /** The paths of a node end before those that they lead to. */
    void closePaths() {
        paths.forEach(LockPath::close);
    }

    @Override
    public void close() {
        accepted.forEach(QueuePair::close);
        region.close();
        completions.close();
        domain.close();
        context.close();
        arena.close();
    }
}
