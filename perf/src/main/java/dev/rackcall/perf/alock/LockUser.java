package dev.rackcall.perf.alock;

import dev.rackcall.lock.ALock;
import dev.rackcall.lock.LockBell;
import dev.rackcall.lock.LockPeers;
import dev.rackcall.lock.LockSession;
import dev.rackcall.lock.LockTable;
import dev.rackcall.lock.RemoteTable;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.List;
import java.util.stream.IntStream;

/** One thread of the lock benchmark, with one kind of lock. */
interface LockUser {
    /** Takes a lock of a node and releases it. */
    void lockAndUnlock(int node, int index);

    /** The thread has ended. */
    default void end() {}

    /** The thread's place among all. */
    record Place(List<? extends LockSite> nodes, LockNode own, int node, int thread, int threads) {
        /** From 1. */
        int number() {
            return node * threads + thread + 1;
        }

        /** To the table of a node. */
        private LockSession session(int other, LockPeers peers, boolean waits) {
            if (other == node) {
                return own.table().localSession(number());
            }
            RemoteTable link = nodes.get(other).pathFrom(own).link();
            LockBell bell = own.bell(node, thread, other);
            return waits
                    ? LockTable.remoteSession(link.withBell(bell, peers), number())
                    : LockTable.remoteSession(link.withBell(bell, peers).withFinisher(own.finisher()), number());
        }

        List<LockPath> paths() {
            return nodes.stream().map(node -> node.pathFrom(own)).toList();
        }
    }

    /**
     * Uses locks of its own node by the processor, others by RDMA; a thread that waits for the latter waits at its own
     * node.
     *
     * @param waits whether it waits for its unlocks
     */
    @SuppressWarnings("LockNotBeforeTry") // nothing between lock and unlock can fail
    static LockUser alock(Place place, boolean waits) {
        LockPeers peers = LockPeers.create();
        for (int node = 0; node < place.nodes.size(); node++) {
            place.nodes.get(node).pathFrom(place.own).addTo(peers, node);
        }
        List<LockSession> sessions = IntStream.range(0, place.nodes.size())
                .mapToObj(node -> place.session(node, peers, waits))
                .toList();
        ALock[][] locks = sessions.stream()
                .map(session -> IntStream.range(0, place.nodes.getFirst().locks())
                        .mapToObj(session::lock)
                        .toArray(ALock[]::new))
                .toArray(ALock[][]::new);
        return new LockUser() {
            @Override
            public void lockAndUnlock(int node, int index) {
                ALock lock = locks[node][index];
                lock.lock();
                lock.unlock();
            }

            @Override
            public void end() {
                sessions.forEach(LockSession::close);
            }
        };
    }

    /**
     * A spin lock: all threads compare and set its word by RDMA until they get it; those of the same node use loopback.
     */
    static LockUser spin(Place place) {
        List<LockPath> paths = place.paths();
        return (node, index) -> {
            LockPath path = paths.get(node);
            long word = place.nodes.get(node).word(index);
            while (path.compareAndSwap(word, 0, place.number()) != 0) {
                Thread.onSpinWait();
            }
            path.write(word, 0);
        };
    }

    /** No lock: a compare-and-set by RDMA of a word that never changes. */
    static LockUser verb(Place place) {
        List<LockPath> paths = place.paths();
        return (node, index) ->
                paths.get(node).compareAndSwap(place.nodes.get(node).word(index), 0, 0);
    }

    /**
     * A queue that all threads enter by RDMA, those of the lock's own node by loopback. Each thread waits for a word
     * in its own node's memory.
     */
    final class Mcs implements LockUser {
        private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
        private static final long WAITS = 0;
        private static final long NEXT = 8;
        private static final int SPINS = 50;

        private final Place place;
        private final List<LockPath> paths;
        private final MemorySegment own;

        Mcs(Place place) {
            this.place = place;
            paths = place.paths();
            own = place.own.threadMemory(place.thread);
        }

        @Override
        public void lockAndUnlock(int node, int index) {
            LockPath path = paths.get(node);
            long word = place.nodes.get(node).word(index);
            WORD.setVolatile(own, WAITS, 1L);
            WORD.setVolatile(own, NEXT, 0L);
            long before = 0;
            long seen = path.compareAndSwap(word, 0, place.number());
            while (seen != before) {
                before = seen;
                seen = path.compareAndSwap(word, before, place.number());
            }
            if (before != 0) {
                write(before, NEXT, place.number());
                await(WAITS, 0, path);
            }
            if (path.compareAndSwap(word, place.number(), 0) != place.number()) {
                write(await(NEXT, -1, path), WAITS, 0);
            }
        }

        private void write(long number, long offset, long value) {
            int node = (int) (number - 1) / place.threads;
            int thread = (int) (number - 1) % place.threads;
            paths.get(node).write(place.nodes.get(node).thread(thread) + offset, value);
        }

        /**
         * Waits until a word of this thread's line, which others write by RDMA, is {@code wanted}, or for -1 anything
         * but 0.
         */
        private long await(long offset, long wanted, LockPath path) {
            int looks = 0;
            long now = (long) WORD.getVolatile(own, offset);
            while (wanted < 0 ? now == 0 : now != wanted) {
                // The device may need this processor.
                path.help();
                if (++looks > SPINS) {
                    Thread.yield();
                }
                now = (long) WORD.getVolatile(own, offset);
            }
            return now;
        }
    }
}
