package dev.rackcall.perf.alock;

import dev.rackcall.lock.LockBell;
import dev.rackcall.lock.LockFinisher;
import dev.rackcall.lock.LockTable;
import dev.rackcall.perf.rdma.RcAddress;
import dev.rackcall.perf.rdma.RcDevice;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.QueuePair;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

/**
 * A simulated node of the lock benchmark: a device, and memory that all nodes reach through it. The memory has a table
 * of ALocks, then a line for each lock of the baselines, then a line for each thread of this node, where it waits.
 */
final class LockNode implements LockSite, AutoCloseable {
    static final int LINE = 64;

    private final Arena arena = Arena.ofShared();
    private final RcDevice device = RcDevice.open();
    private final CompletionQueue completions = device.completions(CompletionQueueSpec.of(LockPath.DEPTH));
    private final List<LockPath> paths = new ArrayList<>();
    private final List<QueuePair> accepted = new ArrayList<>();
    private final MemorySegment memory;
    private final MemoryRegion region;
    private final LockTable table;
    private final Layout layout;
    private final LockFinisher finisher = LockFinisher.start();

    /** The offsets in a node's memory. */
    record Layout(int locks, int allThreads, int threads) {
        /** Two for each thread: one for its lock, and one for its previous lock, whose unlock may be pending. */
        int descriptors() {
            return 2 * allThreads;
        }

        long word(int index) {
            return LockTable.bytes(descriptors(), locks) + (long) LINE * index;
        }

        long thread(int thread) {
            return word(locks) + (long) LINE * thread;
        }
    }

    LockNode(int locks, int allThreads, int threads) {
        layout = new Layout(locks, allThreads, threads);
        memory = arena.allocate(layout.thread(threads), LINE);
        table = LockTable.create(memory, layout.descriptors(), locks);
        region = device.register(memory, EnumSet.allOf(Access.class));
    }

    LockTable table() {
        return table;
    }

    /** For the sessions of this node's threads. */
    LockFinisher finisher() {
        return finisher;
    }

    @Override
    public int locks() {
        return layout.locks();
    }

    @Override
    public long word(int index) {
        return region.address() + layout.word(index);
    }

    @Override
    public long thread(int thread) {
        return region.address() + layout.thread(thread);
    }

    /** Where a thread of this node waits for locks of another one. */
    LockBell bell(int number, int thread, int other) {
        return new LockBell(number, region, layout.thread(thread) + (long) Long.BYTES * other);
    }

    MemorySegment threadMemory(int thread) {
        return memory.asSlice(layout.thread(thread), LINE);
    }

    @Override
    public LockPath pathFrom(LockNode own) {
        LockPath path = own.newPath(region.address(), region.remoteKey());
        path.connect(accept(path.address()));
        return path;
    }

    /** A path to memory of some node, not connected yet; this node closes it. */
    LockPath newPath(long address, int key) {
        LockPath path = new LockPath(device, address, key);
        paths.add(path);
        return path;
    }

    /** Makes the other end of a path that leads here; returns its address. */
    RcAddress accept(RcAddress peer) {
        QueuePair here = LockPath.queuePair(device, completions);
        device.connect(here, peer);
        synchronized (accepted) {
            accepted.add(here);
        }
        return device.address(here);
    }

    /** For {@link FarLockNode}. */
    void describe(DataOutputStream out) throws IOException {
        out.writeLong(region.address());
        out.writeInt(region.remoteKey());
        out.writeInt(layout.locks());
        out.writeInt(layout.allThreads());
        out.writeInt(layout.threads());
    }

    /** Closes the paths of all nodes, then the nodes: a path must close before the node that it leads to. */
    static void closeAll(List<LockNode> nodes) {
        nodes.forEach(LockNode::closePaths);
        nodes.forEach(LockNode::close);
    }

    void closePaths() {
        paths.forEach(LockPath::close);
    }

    @Override
    public void close() {
        finisher.close();
        accepted.forEach(QueuePair::close);
        region.close();
        completions.close();
        device.close();
        arena.close();
    }
}
