package dev.rackcall.lock;

import static dev.rackcall.lock.LockLayout.KEEPER_AT;
import static dev.rackcall.lock.LockLayout.MAGIC;
import static dev.rackcall.lock.LockLayout.MAGIC_AT;
import static dev.rackcall.lock.LockLayout.MAX_DESCRIPTORS;
import static dev.rackcall.lock.LockLayout.SIZES_AT;

import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.LongPredicate;

/**
 * ALocks in a piece of memory that local threads map and remote threads reach by RDMA, and the descriptors of those who use them. A thread gets at them by a
 * session. The memory is the caller's: it must stay mapped, and registered, as long as there are sessions. A table needs a {@link LockKeeper} that comes by: without, locks and descriptors may be
 * lost though nobody dies. Thread-safe.
 *
 * {@snippet :
 * LockTable table = LockTable.create(memory, 64, 1000);
 * try (LockSession session = table.localSession(participant)) {
 *     ALock lock = session.lock(17);
 *     lock.lock();
 *     try {
 *         // what the lock guards
 *     } finally {
 *         lock.unlock();
 *     }
 * }
 * }
 */
public final class LockTable {
    /** Hand-overs among remote threads before local ones get their chance. */
    public static final int REMOTE_BUDGET = 20;
    /** Hand-overs among local threads before remote ones get their chance. */
    public static final int LOCAL_BUDGET = 5;
    /** What a session by RDMA needs of registered memory, in bytes. */
    public static final long SCRATCH_BYTES = RdmaWords.SCRATCH_BYTES;

    /**
     * How large a table is.
     *
     * @param descriptors how many locks each cohort can hold or wait for at a time, all its threads together
     * @param locks how many locks there are
     * @param readers whether they can be shared by readers
     */
    record Sizes(int descriptors, int locks, boolean readers) {
        private static final int READERS = 1 << 31;

        Sizes {
            if (descriptors < 1 || descriptors > MAX_DESCRIPTORS || locks < 1) {
                throw new IllegalArgumentException("no lock table has " + descriptors + " descriptors (1 to "
                        + MAX_DESCRIPTORS + ") and " + locks + " locks (1 at least)");
            }
        }

        static Sizes of(long word) {
            return new Sizes((int) word & ~READERS, (int) (word >>> 32), ((int) word & READERS) != 0);
        }

        long word() {
            return (long) locks << 32 | Integer.toUnsignedLong(readers ? descriptors | READERS : descriptors);
        }

        long bytes() {
            return LockLayout.bytes(descriptors, locks);
        }
    }

    private final MemorySegment memory;
    private final Sizes sizes;

    private LockTable(MemorySegment memory, Sizes sizes) {
        this.memory = memory.asSlice(0, sizes.bytes());
        this.sizes = sizes;
    }

    /**
     * How much memory a table takes, in bytes.
     *
     * @param descriptors how many locks each cohort can hold or wait for at a time, all its threads together. Who gives up waiting uses one, too, until whoever came before
     *     him unlocks and his session calls again: one for each session and lock. A session keeps as many as it had in use at a time until it is closed
     * @param locks how many locks there are
     */
    public static long bytes(int descriptors, int locks) {
        return new Sizes(descriptors, locks, false).bytes();
    }

    /**
     * Makes a table at the beginning of this memory, which must be zero, aligned to 64 bytes and long enough.
     *
     * @param descriptors as for {@link #bytes}; a session with a {@link LockFinisher} takes two at least, if there are as many
     * @param locks how many locks there are
     * @throws IllegalArgumentException if it is not
     */
    public static LockTable create(MemorySegment memory, int descriptors, int locks) {
        return create(memory, new Sizes(descriptors, locks, false));
    }

    /**
     * The same for locks that many may hold at a time to read ({@link LockSession#readLock}). A reader needs two descriptors while it enters, and one while it reads.
     * Who takes such a lock for himself looks whether there are readers, by RDMA a round trip, and if there were some at all the descriptors.
     *
     * @throws IllegalArgumentException as for {@link #create}
     */
    public static LockTable createWithReaders(MemorySegment memory, int descriptors, int locks) {
        return create(memory, new Sizes(descriptors, locks, true));
    }

    private static LockTable create(MemorySegment memory, Sizes sizes) {
        requireMemory(memory, sizes.bytes());
        if (!isZero(memory, sizes)) {
            throw new IllegalArgumentException(
                    "the memory of a new lock table must be zero, and " + memory + " is not");
        }
        LockWords words = new ProcessorWords(memory);
        words.store(SIZES_AT, sizes.word());
        // The magic last, with release: whoever attaches finds a whole table.
        words.store(MAGIC_AT, MAGIC);
        return new LockTable(memory, sizes);
    }

    /**
     * Finds the table that another process of this host made at the beginning of this memory.
     *
     * @throws IllegalArgumentException if there is none, or a part of it lies outside
     */
    public static LockTable attach(MemorySegment memory) {
        requireMemory(memory, LockLayout.LINE);
        LockWords words = new ProcessorWords(memory);
        if (words.load(MAGIC_AT) != MAGIC) {
            throw new IllegalArgumentException("there is no lock table at the beginning of " + memory);
        }
        Sizes sizes = Sizes.of(words.load(SIZES_AT));
        requireMemory(memory, sizes.bytes());
        return new LockTable(memory, sizes);
    }

    /**
     * A session of one thread, which reaches the locks by memory.
     *
     * @param owner under which number the keeper is told if it dies: a participant's, for instance. Several sessions that can only die together may share it
     * @throws IllegalArgumentException if the owner is not positive
     */
    public LockSession localSession(long owner) {
        return session(new ProcessorWords(memory), new Waiting(false), owner, LOCAL_BUDGET, sizes);
    }

    /**
     * A session of one thread, which reaches the locks of a table elsewhere by RDMA.
     *
     * @param owner as for {@link #localSession}; locals and remotes have one set of numbers
     * @throws LockConnectionException if it cannot be reached
     * @throws IllegalArgumentException if there is no lock table at that address, or the owner is not positive
     */
    public static LockSession remoteSession(LockLink link, long owner) {
        return remoteSession(new RdmaWords(link), link, owner);
    }

    /**
     * The same for a thread that does not wait for its unlocks.
     *
     * @param finisher who sees to them if the thread does not come back
     * @throws LockConnectionException if it cannot be reached
     * @throws IllegalArgumentException if there is no lock table at that address, the owner is not positive, or the scratch memory is confined to a thread
     */
    public static LockSession remoteSession(LockLink link, long owner, LockFinisher finisher) {
        finisher.require(link);
        RdmaWords words = new RdmaWords(link);
        return remoteSession(words, link, owner).finishedBy(finisher, words);
    }

    /**
     * The same for a thread that waits at a word of its own memory, and not at the table's home.
     *
     * @param bell that word, which whoever hands over to this session writes
     * @param peers by whose queue pairs this session rings the bells of others
     * @throws LockConnectionException if it cannot be reached
     * @throws IllegalArgumentException if there is no lock table at that address, or the owner is not positive
     */
    public static LockSession remoteSession(LockLink link, long owner, LockBell bell, LockPeers peers) {
        return remoteSession(new RdmaWords(link, Optional.of(bell), peers), link, owner);
    }

    /**
     * Both: a thread that waits at a word of its own memory, and does not wait for its unlocks.
     *
     * @param bell as above
     * @param peers as above; used by the finisher, too
     * @param finisher who sees to unlocks if the thread does not come back
     * @throws LockConnectionException if it cannot be reached
     * @throws IllegalArgumentException if there is no lock table at that address, the owner is not positive, or the scratch memory is confined to a thread
     */
    public static LockSession remoteSession(
            LockLink link, long owner, LockBell bell, LockPeers peers, LockFinisher finisher) {
        finisher.require(link);
        RdmaWords words = new RdmaWords(link, Optional.of(bell), peers);
        return remoteSession(words, link, owner).finishedBy(finisher, words);
    }

    private static LockSession remoteSession(LockWords words, LockLink link, long owner) {
        if (words.load(MAGIC_AT) != MAGIC) {
            throw new IllegalArgumentException("there is no lock table at address " + Long.toHexString(link.address()));
        }
        Sizes sizes = Sizes.of(words.load(SIZES_AT));
        return session(words, new Waiting(!words.hasBell()), owner, REMOTE_BUDGET, sizes);
    }

    /**
     * The one who takes dead owners out of the queues of a table that nobody reaches by RDMA. It needs no device.
     *
     * @param owner who this is, as for {@link #localSession}
     * @param isDead whether the owner of the keeper before this one is certainly dead
     * @throws IllegalStateException if there is a keeper that lives
     */
    public LockKeeper localKeeper(long owner, LongPredicate isDead) {
        return keeper(new ProcessorWords(memory), Optional.empty(), owner, isDead);
    }

    /**
     * The one who takes dead owners out of the queues. Without peers: a waiter by RDMA that it hands over to finds that out by itself, 2 ms later at most.
     *
     * @param loopback to this table itself: a queue pair that ends at the device that remote sessions end at
     * @param owner who this is, as for {@link #localSession}
     * @param isDead whether the owner of the keeper before this one is certainly dead
     * @throws IllegalStateException if there is a keeper that lives
     */
    public LockKeeper keeper(LockLink loopback, long owner, LongPredicate isDead) {
        return keeper(loopback, LockPeers.create(), owner, isDead);
    }

    /**
     * The same for one that rings the bells of those it hands over to.
     *
     * @param peers by whose queue pairs it does; no session's, and no other keeper's
     */
    public LockKeeper keeper(LockLink loopback, LockPeers peers, long owner, LongPredicate isDead) {
        LockWords atomics = new RdmaWords(loopback, Optional.empty(), peers);
        return keeper(new ProcessorWords(memory), Optional.of(atomics), owner, isDead);
    }

    LockKeeper keeper(LockWords words, Optional<LockWords> atomics, long owner, LongPredicate isDead) {
        requireOwner(owner);
        long before = words.compareAndSwap(KEEPER_AT, 0, owner);
        if (before != 0 && (!isDead.test(before) || words.compareAndSwap(KEEPER_AT, before, owner) != before)) {
            throw new IllegalStateException(
                    "this lock table has a keeper already, owner " + before + "; close it first");
        }
        return new LockKeeper(words, atomics, owner, sizes.descriptors());
    }

    /** How many locks there are. */
    public int locks() {
        return sizes.locks();
    }

    Sizes sizes() {
        return sizes;
    }

    static LockSession session(LockWords words, Waiting waiting, long owner, int budget, Sizes sizes) {
        requireOwner(owner);
        return new LockSession(words, waiting, owner, budget, sizes);
    }

    private static void requireOwner(long owner) {
        if (owner <= 0) {
            throw new IllegalArgumentException("the owner of a lock has a positive number, not " + owner);
        }
    }

    private static boolean isZero(MemorySegment memory, Sizes sizes) {
        LockWords words = new ProcessorWords(memory);
        for (long at = 0; at < sizes.bytes(); at += Long.BYTES) {
            if (words.load(at) != 0) {
                return false;
            }
        }
        return true;
    }

    private static void requireMemory(MemorySegment memory, long needed) {
        if (memory.byteSize() < needed || memory.address() % LockLayout.LINE != 0 || !memory.isNative()) {
            throw new IllegalArgumentException(
                    "a lock table needs " + needed + " bytes of native memory aligned to 64, not " + memory);
        }
    }
}
