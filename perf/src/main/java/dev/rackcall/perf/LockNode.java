package dev.rackcall.perf;

import dev.rackcall.lock.LockBell;
import dev.rackcall.lock.LockFinisher;
import dev.rackcall.lock.LockTable;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.CompletionQueue;
import dev.rackcall.verbs.CompletionQueueSpec;
import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.ProtectionDomain;
import dev.rackcall.verbs.QueuePair;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

/**
 * A simulated node of the lock benchmark: a software device, and memory that all nodes reach by it. The memory has a table of ALocks, then a line for each lock of the
 * baselines, then a line for each thread of this node, where it waits.
 */
final class LockNode implements LockHome, AutoCloseable {
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
    private final Layout layout;
    private final LockFinisher finisher = LockFinisher.start();

    /** Where things lie in a node's memory. */
    record Layout(int locks, int allThreads, int threads) {
        /** Two for each thread: one for its lock, and one for that before, if its unlock is open. */
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
        region = domain.register(memory, EnumSet.allOf(Access.class));
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
        own.connect(path, gid(), accept(own.gid(), path.number()));
        return path;
    }

    /** A path to memory of some node, to be {@link #connect connected}; it is this node's. */
    LockPath newPath(long address, int key) {
        LockPath path = new LockPath(context, domain, address, key);
        paths.add(path);
        return path;
    }

    void connect(LockPath path, Gid gid, int number) {
        path.connect(place.pathTo(gid), number);
    }

    /** A queue pair for a path that leads here; returns its number. */
    int accept(Gid gid, int number) {
        QueuePair here = LockPath.queuePair(domain, completions);
        LockPath.connect(here, place.pathTo(gid), number);
        synchronized (accepted) {
            accepted.add(here);
        }
        return here.number();
    }

    Gid gid() {
        return place.gid();
    }

    /** For {@link FarLockNode}. */
    void describe(DataOutputStream out) throws IOException {
        out.writeLong(region.address());
        out.writeInt(region.remoteKey());
        out.writeInt(layout.locks());
        out.writeInt(layout.allThreads());
        out.writeInt(layout.threads());
    }

    /** The paths of a node end before those that they lead to. */
    void closePaths() {
        paths.forEach(LockPath::close);
    }

    @Override
    public void close() {
        finisher.close();
        accepted.forEach(QueuePair::close);
        region.close();
        completions.close();
        domain.close();
        context.close();
        arena.close();
    }
}
