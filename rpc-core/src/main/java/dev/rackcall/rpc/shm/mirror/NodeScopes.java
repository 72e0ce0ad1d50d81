package dev.rackcall.rpc.shm.mirror;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.shm.Arena;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.RefException;
import dev.rackcall.shm.RefSpace;
import dev.rackcall.shm.ScopeRuns;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.LongConsumer;

/**
 * One node's part of its channel's arena, at its home: the scopes of the node's request arena that it has opened for
 * others. The node pushes their contents and names them by control requests; each Ref is checked here. Thread-safe.
 *
 * <p>Before a node reuses a scope's memory, it ends the scope and waits for the answer. The home does not read that
 * memory for others after the answer.
 */
final class NodeScopes {
    /** Maximum number of open scopes of a node. */
    static final int MOST = 4096;

    /** A flag beside an arena's number: its writer has left. */
    static final long GONE = 1L << 32;

    /** Maximum number of runs that are read, of all scopes together; further runs are not served. */
    private static final int MOST_RUNS = 8192;
    /** Maximum number of runs of one scope. */
    private static final int LONGEST_CHAIN = 1024;

    private static final long PAGE = ControlLayout.PAGE;

    private final ChannelScopes channel;
    private final Arena arena;
    private final LongConsumer teller;
    private final RefSpace.Window window = new RefSpace.Window();

    /** Refs of their first runs. Guarded by this. */
    private final Set<Long> open = new LinkedHashSet<>();
    /** Guarded by this. */
    private final ScopeRuns runs = new ScopeRuns();
    /** Read lock: a thread copies from the arena for another node. Write lock: a scope ends. */
    private final ReadWriteLock copies = new ReentrantReadWriteLock();
    /** Nodes that have fetched since they were last notified of a closed scope. */
    private final Set<NodeScopes> readers = ConcurrentHashMap.newKeySet();
    /** Nodes that have ever fetched, and may hold copies when this node leaves. */
    private final Set<NodeScopes> holders = ConcurrentHashMap.newKeySet();

    private volatile PublishedRuns published = PublishedRuns.NONE;
    /** The node has passed an object since {@link #published} was made. */
    private volatile boolean grown;

    /** @param teller sends the node a number */
    NodeScopes(ChannelScopes channel, Arena arena, LongConsumer teller) {
        this.channel = channel;
        this.arena = arena;
        this.teller = teller;
        // A store would change the mirror only.
        window.set(arena.memory().asReadOnly(), 0, arena.quota());
    }

    ChannelScopes channel() {
        return channel;
    }

    int arenaId() {
        return arena.id();
    }

    // ---- requests of the node

    /** The node opens a scope for others, or has passed an object in an open one. What it pushed before has arrived. */
    synchronized void share(long firstRun) {
        boolean fits = Ref.arenaId(firstRun) == arena.id()
                && Ref.offset(firstRun) % PAGE == 0
                && Ref.offset(firstRun) >= PAGE
                && Ref.offset(firstRun) <= arena.quota() - PAGE;
        if (!fits) {
            throw Status.Code.INVALID_ARGUMENT
                    .with("%s is not a scope of the node's own arena %d", Ref.describe(firstRun), arena.id())
                    .asException();
        }
        if (open.size() >= MOST && !open.contains(firstRun)) {
            throw Status.Code.RESOURCE_EXHAUSTED
                    .with(
                            "the node has %d scopes open for others, as many as it may; close some, or use newScope",
                            MOST)
                    .asException();
        }
        open.add(firstRun);
        grown = true;
    }

    /** The node ends a scope: after this method returns, no thread reads it for others. */
    void unshare(long firstRun) {
        copies.writeLock().lock();
        try {
            synchronized (this) {
                if (!open.remove(firstRun)) {
                    return;
                }
                published = published.without(firstRun);
            }
        } finally {
            copies.writeLock().unlock();
        }
        tellReaders();
    }

    /** The node has passed an object of its arena: what it pushed before may be read now. */
    void passed() {
        if (!grown) {
            grown = true;
        }
    }

    /** Ends all scopes of the node, which has left or is about to. */
    void end() {
        channel.leave(this);
        copies.writeLock().lock();
        try {
            synchronized (this) {
                open.clear();
                published = PublishedRuns.NONE;
            }
        } finally {
            copies.writeLock().unlock();
        }
        readers.clear();
        for (NodeScopes holder : List.copyOf(holders)) {
            if (holders.remove(holder)) {
                holder.tellGone(arena.id());
            }
        }
    }

    private void tellReaders() {
        for (NodeScopes reader : List.copyOf(readers)) {
            if (readers.remove(reader)) {
                reader.tellStale(arena.id());
            }
        }
    }

    /** Tells this node that its copies of that arena may be stale. */
    void tellStale(int arenaId) {
        teller.accept(arenaId);
    }

    /** Tells this node that its copies of that arena are void, and that the arena's number may be reused. */
    private void tellGone(int arenaId) {
        teller.accept(GONE | arenaId);
    }

    // ---- requests on behalf of others

    /** @throws RefException if the Ref leads into no open scope */
    RefSpace.Window window(long ref) {
        requireOpen(ref);
        return window;
    }

    boolean isIn(MemorySegment.Scope mapped) {
        return arena.memory().scope().equals(mapped);
    }

    /** Whether the Ref leads into an open scope of the node. */
    boolean holds(long ref) {
        return Ref.arenaId(ref) == arena.id() && endAt(ref) >= 0;
    }

    /** As {@link #window}; returns the offset behind the run. */
    long requireOpen(long ref) {
        long end = endAt(ref);
        if (end < 0) {
            throw new RefException(Ref.describe(ref)
                    + " cannot be followed: it leads into no scope that its node has open for others; was it closed?");
        }
        return end;
    }

    private long endAt(long ref) {
        long end = published.endAt(ref);
        if (end < 0) {
            // Another thread may have cleared `grown` without having published yet.
            lookAgain();
            end = published.endAt(ref);
        }
        return end;
    }

    /** Reads the runs again if more has arrived since the last reading; waits if another thread is doing so. */
    private synchronized void lookAgain() {
        if (!grown) {
            return;
        }
        grown = false;
        List<PublishedRuns.Run> found = new ArrayList<>();
        int left = MOST_RUNS;
        for (long scope : open) {
            if (left <= 0) {
                break;
            }
            left -= add(scope, found);
        }
        runs.clear();
        published = PublishedRuns.of(found);
    }

    /** Adds the runs of a scope, which the node may have left in any state; returns roughly how many were read. */
    private int add(long scope, List<PublishedRuns.Run> found) {
        if (arena.memory().get(ValueLayout.JAVA_LONG, Ref.offset(scope)) != scope) {
            // Nothing of it was pushed yet: a run begins with the Ref of its scope's first run.
            return 1;
        }
        try {
            runs.read(arena, scope);
        } catch (RefException e) {
            // Damaged, perhaps only its last run.
            return LONGEST_CHAIN;
        }
        int count = runs.belongTogether(arena) ? runs.count() : 0;
        for (int i = 0; i < count; i++) {
            long run = runs.ref(i);
            found.add(new PublishedRuns.Run(run, Ref.offset(run) + runs.bytes(i), scope));
        }
        return runs.count();
    }

    /**
     * The bytes at a Ref, for another node.
     *
     * @param most maximum number of bytes; the result is shorter if the run ends first
     * @throws RefException as {@link #window}
     */
    byte[] copy(long ref, int most, NodeScopes reader) {
        copies.readLock().lock();
        try {
            // Added before the check, so that a thread that ends the scope later finds the reader.
            readers.add(reader);
            holders.add(reader);
            lookAgain();
            long length = Math.min(most, requireOpen(ref) - Ref.offset(ref));
            byte[] bytes = new byte[Math.toIntExact(length)];
            MemorySegment.copy(arena.memory(), ValueLayout.JAVA_BYTE, Ref.offset(ref), bytes, 0, bytes.length);
            return bytes;
        } finally {
            copies.readLock().unlock();
        }
    }

    long arenaBytes() {
        return arena.quota();
    }

    /** Another node has left. */
    void forget(NodeScopes reader) {
        readers.remove(reader);
        holders.remove(reader);
    }

    /** Which bytes of a node's arena belong to open scopes, as of the last reading. Immutable. */
    static final class PublishedRuns {
        static final PublishedRuns NONE = of(List.of());

        /** The bits above are common to all Refs into a run. */
        private static final int COMMON_SHIFT = 40;

        private final Run[] runs;

        /**
         * A run of a scope.
         *
         * @param ref of its first byte
         * @param end offset in the arena behind its last used byte
         * @param scope Ref of the scope's first run
         */
        record Run(long ref, long end, long scope) {}

        private PublishedRuns(Run[] runs) {
            this.runs = runs;
        }

        static PublishedRuns of(List<Run> runs) {
            Run[] sorted = runs.toArray(Run[]::new);
            Arrays.sort(sorted, Comparator.comparingLong(run -> Ref.offset(run.ref)));
            return new PublishedRuns(sorted);
        }

        PublishedRuns without(long scope) {
            return new PublishedRuns(
                    Arrays.stream(runs).filter(run -> run.scope != scope).toArray(Run[]::new));
        }

        /** Offset behind the run that {@code ref} leads into; -1 if there is none of that generation. */
        long endAt(long ref) {
            int low = 0;
            int high = runs.length - 1;
            while (low <= high) {
                int middle = (low + high) >>> 1;
                if (Ref.offset(runs[middle].ref) <= Ref.offset(ref)) {
                    low = middle + 1;
                } else {
                    high = middle - 1;
                }
            }
            if (high < 0) {
                return -1;
            }
            Run run = runs[high];
            boolean leadsThere = (run.ref ^ ref) >>> COMMON_SHIFT == 0 && Ref.offset(ref) < run.end;
            return leadsThere ? run.end : -1;
        }
    }
}
