package dev.rackcall.lock;

import static dev.rackcall.lock.LockLayout.KEEPER_AT;
import static dev.rackcall.lock.LockLayout.MAGIC;
import static dev.rackcall.lock.LockLayout.MAGIC_AT;
import static dev.rackcall.lock.LockLayout.SIZES_AT;

import dev.rackcall.lock.LockLayout.Sizes;
import java.lang.foreign.MemorySegment;
import java.util.Optional;
import java.util.function.LongPredicate;

/**
 * ALocks in memory that local threads map and remote threads reach by RDMA, with the descriptors of these threads. A
 * thread uses the locks by a session. The caller keeps the memory mapped and registered while there are sessions. Each
 * table needs a {@link LockKeeper} that runs regularly: without it, locks and descriptors may be lost even if no
 * process dies. Thread-safe.
 *
 * {@snippet :
 * LockTable table = LockTable.create(memory, 64, 1000);
 * try (LockSession session = table.localSession(participant)) {
 *     ALock lock = session.lock(17);
 *     lock.lock();
 *     try {
 *         // use what the lock guards
 *     } finally {
 *         lock.unlock();
 *     }
 * }
 * }
 */
public final class LockTable {
    /** Hand-overs among remote threads before local threads may compete. */
    public static final int REMOTE_BUDGET = 20;
    /** Hand-overs among local threads before remote threads may compete. */
    public static final int LOCAL_BUDGET = 5;
    /** The registered memory that a session by RDMA needs, in bytes. */
    public static final long SCRATCH_BYTES = RemoteTable.SCRATCH_BYTES;

    private final MemorySegment memory;
    private final Sizes sizes;

    private LockTable(MemorySegment memory, Sizes sizes) {
        this.memory = memory.asSlice(0, sizes.bytes());
        this.sizes = sizes;
    }

    /**
     * The size of a table, in bytes.
     *
     * @param descriptors how many locks all threads of a cohort together can hold or wait for at a time. An abandoned
     *     wait keeps one descriptor for each session and lock, until the predecessor unlocks and the session makes
     *     another call. Until it is closed, a session keeps as many descriptors as it ever used at once
     * @param locks how many locks there are
     */
    public static long bytes(int descriptors, int locks) {
        return new Sizes(descriptors, locks, false).bytes();
    }

    /**
     * Creates a table at the beginning of this memory, which must be all zero, aligned to 64 bytes and long enough.
     *
     * @param descriptors as for {@link #bytes}; a session with a {@link LockFinisher} takes two for a lock if enough
     *     are left
     * @param locks how many locks there are
     * @throws IllegalArgumentException if the memory does not meet these conditions
     */
    public static LockTable create(MemorySegment memory, int descriptors, int locks) {
        return create(memory, new Sizes(descriptors, locks, false));
    }

    /**
     * The same for locks that readers may share ({@link LockSession#readLock}). A reader needs two descriptors while it
     * enters, and one while it reads. A writer checks for readers, which takes a round trip by RDMA; if there may be
     * readers, it reads all descriptors.
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
        // The magic is written last, with release: a process that attaches finds a complete table.
        words.store(MAGIC_AT, MAGIC);
        return new LockTable(memory, sizes);
    }

    /**
     * Finds the table that another process of this host made at the beginning of this memory.
     *
     * @throws IllegalArgumentException if there is none, or it does not fit into the memory
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
     * @param owner names the thread to the keeper if it dies, as a participant's number does. Sessions that can only
     *     die together may share it
     * @throws IllegalArgumentException if the owner is not positive
     */
    public LockSession localSession(long owner) {
        return session(new ProcessorWords(memory), new LockWait(false), owner, LOCAL_BUDGET, sizes);
    }

    /**
     * A session of one thread, which reaches the locks of a table elsewhere by RDMA.
     *
     * @param owner as for {@link #localSession}; local and remote sessions share one set of numbers
     * @throws LockConnectionException if the table cannot be reached
     * @throws IllegalArgumentException if there is no lock table at that address, or the owner is not positive
     */
    public static LockSession remoteSession(RemoteTable table, long owner) {
        RdmaWords words = new RdmaWords(table);
        if (words.load(MAGIC_AT) != MAGIC) {
            throw new IllegalArgumentException(
                    "there is no lock table at address " + Long.toHexString(table.address()));
        }
        Sizes sizes = Sizes.of(words.load(SIZES_AT));
        LockSession session = session(words, new LockWait(!words.hasBell()), owner, REMOTE_BUDGET, sizes);
        table.finisher().ifPresent(finisher -> session.finishedBy(finisher, words));
        return session;
    }

    /**
     * The keeper of a table that no thread reaches by RDMA. It needs no device.
     *
     * @param owner names this keeper, as for {@link #localSession}
     * @param isDead whether the owner of the keeper before this one is certainly dead
     * @throws IllegalStateException if the table has a live keeper
     */
    public LockKeeper localKeeper(long owner, LongPredicate isDead) {
        return keeper(new ProcessorWords(memory), Optional.empty(), owner, isDead);
    }

    /**
     * The keeper of a table that threads also reach by RDMA. Without {@linkplain RemoteTable#withPeers peers}, a remote
     * waiter to which it hands over detects that by itself, at most 2 ms later.
     *
     * @param loopback to this table: its queue pair ends at the same device as those of remote sessions
     * @param owner names this keeper, as for {@link #localSession}
     * @param isDead whether the owner of the keeper before this one is certainly dead
     * @throws IllegalStateException if the table has a live keeper
     */
    public LockKeeper keeper(RemoteTable loopback, long owner, LongPredicate isDead) {
        return keeper(new ProcessorWords(memory), Optional.of(new RdmaWords(loopback)), owner, isDead);
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

    static LockSession session(LockWords words, LockWait waiting, long owner, int budget, Sizes sizes) {
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
