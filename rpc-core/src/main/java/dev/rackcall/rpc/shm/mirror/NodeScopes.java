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
 * One node's part of its channel's arena, as this server has it, who is the home of all of them: those scopes of the node's request arena that it has opened for others. What
 * lies in them is what the node has pushed; which they are, it says by control requests; and what a Ref leads to is judged here each time. Thread-safe.
 *
 * <p>A node says that a scope ends, and waits for the answer, before it uses the memory for something else: from the answer on nobody reads there on behalf of others.
 */
final class NodeScopes {
    /** Scopes of a node that are open for others at a time. */
    static final int MOST = 4096;

    /** Beside the number of an arena that a node is told: its writer has gone. */
    static final long GONE = 1L << 32;

    /** Runs of all of them together that are looked at; what is beyond is not handed out. */
    private static final int MOST_RUNS = 8192;
    /** Runs of one scope, at most. */
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
    /** Read: somebody copies from the arena for another node. Written: a scope ends. */
    private final ReadWriteLock copies = new ReentrantReadWriteLock();
    /** Who has fetched since he was last told that a scope has ended. */
    private final Set<NodeScopes> readers = ConcurrentHashMap.newKeySet();
    /** Who has ever fetched: those who may hold something when the node goes. */
    private final Set<NodeScopes> holders = ConcurrentHashMap.newKeySet();

    private volatile PublishedRuns published = PublishedRuns.NONE;
    /** The node has passed something since that was made. */
    private volatile boolean grown;

    /** @param teller tells the node a number */
    NodeScopes(ChannelScopes channel, Arena arena, LongConsumer teller) {
        this.channel = channel;
        this.arena = arena;
        this.teller = teller;
        window.set(arena.memory(), 0, arena.quota());
    }

    ChannelScopes channel() {
        return channel;
    }

    int arenaId() {
        return arena.id();
    }

    // ---- said by the node

    /** The node opens a scope for others, or has passed something in it that is not new; whatever it has pushed before is there. */
    synchronized void share(long firstRun) {
        boolean fits = Ref.arenaId(firstRun) == arena.id()
                && Ref.offset(firstRun) % PAGE == 0
                && Ref.offset(firstRun) >= PAGE
                && Ref.offset(firstRun) <= arena.quota() - PAGE;
        if (!fits) {
            throw Status.Code.INVALID_ARGUMENT
                    .with("%s is no scope of the node's own arena %d", Ref.describe(firstRun), arena.id())
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

    /** The node ends a scope: from the return on nobody reads there on behalf of others. */
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

    /** The node has passed an object of its arena: what it had pushed before that may be read now. */
    void passed() {
        if (!grown) {
            grown = true;
        }
    }

    /** The node is gone, or will be at once: its scopes have ended. */
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

    /** Tells this node that what it holds of that arena may not be so any more. */
    void tellStale(int arenaId) {
        teller.accept(arenaId);
    }

    /** Tells this node that what it holds of that arena is nobody's any more, and that its number may come to name another. */
    private void tellGone(int arenaId) {
        teller.accept(GONE | arenaId);
    }

    // ---- asked on behalf of others

    /** @throws RefException if it leads into no scope that is open for others */
    RefSpace.Window window(long ref) {
        requireOpen(ref);
        return window;
    }

    boolean isIn(MemorySegment.Scope mapped) {
        return arena.memory().scope().equals(mapped);
    }

    /** Whether it leads into a scope that the node has opened for others. */
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
            // Or somebody is just looking, who has taken the mark and has not published yet what he finds.
            lookAgain();
            end = published.endAt(ref);
        }
        return end;
    }

    /** If anything has come since somebody looked; waits for whoever is just looking. */
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

    /** Adds the runs of a scope; returns about how many have been looked at, in whatever state the node has left them. */
    private int add(long scope, List<PublishedRuns.Run> found) {
        if (arena.memory().get(ValueLayout.JAVA_LONG, Ref.offset(scope)) != scope) {
            // Nothing of it was pushed yet: a run begins with the Ref of its scope's first.
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
     * What lies at a Ref, for another node.
     *
     * @param most bytes; what is behind the run's end is left out
     * @throws RefException as {@link #window}
     */
    byte[] copy(long ref, int most, NodeScopes reader) {
        copies.readLock().lock();
        try {
            // Before it is judged: who ends the scope from here on finds the reader.
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

    /** Another node has gone. */
    void forget(NodeScopes reader) {
        readers.remove(reader);
        holders.remove(reader);
    }

    /** Which bytes of a node's arena belong to scopes that others may read, as they were when somebody looked. Immutable. */
    static final class PublishedRuns {
        static final PublishedRuns NONE = of(List.of());

        /** Above these bits a Ref has what all Refs into a run have in common. */
        private static final int COMMON_SHIFT = 40;

        private final Run[] runs;

        /**
         * A run of a scope.
         *
         * @param ref of its first byte
         * @param end offset in the arena behind its last byte in use
         * @param scope Ref of the first run of its scope
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

        /** Offset behind the run that {@code ref} leads into; -1 if it leads into none, or into one of another generation. */
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
