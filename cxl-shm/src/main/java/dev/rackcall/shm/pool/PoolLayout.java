package dev.rackcall.shm.pool;

import dev.rackcall.shm.Arena;
import dev.rackcall.shm.ArenaSpec;
import dev.rackcall.shm.Ref;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The first page of a pool; its arena follows.
 *
 * <pre>
 *   0  magic       "RKPOOL01"                   written last
 *   8  version, arena id                        two ints
 *  16  bytes       of the pool, this page included
 *  24  instance    a new random number each time the pool is opened after all its users died
 *  32  participants  the highest number ever used; only grows
 *  36  sharing     0: one host uses it; 1: several
 *  40  maker       1 + number of the host that creates it, if several are to use it
 *  64  boots       for each of 64 hosts the boot that uses it, 0: none
 * 1024 roots       words by which users of the pool find each other
 * </pre>
 *
 * Participant n holds a lock on the byte {@code LOCKS + n} of the file, far past the end of the file. Byte {@code
 * LOCKS} is the gate, which is locked while a process joins or leaves.
 */
final class PoolLayout {
    static final int VERSION = 2;
    static final int HOSTS = 64;
    /** Where the arena starts. */
    static final long ARENA = Arena.PAGE_BYTES;

    static final long MIN_BYTES = ARENA + 4 * Arena.PAGE_BYTES;
    static final long MAX_BYTES = Ref.MAX_OFFSET + 1;
    static final long LOCKS = 1L << 60;

    /** "RKPOOL01" in ASCII, little-endian. */
    private static final long MAGIC = 0x31304c4f4f504b52L;

    private static final long MAGIC_OFFSET = 0;
    private static final long VERSION_OFFSET = 8;
    private static final long ARENA_ID_OFFSET = 12;
    private static final long BYTES_OFFSET = 16;
    private static final long INSTANCE_OFFSET = 24;
    private static final long PARTICIPANTS_OFFSET = 32;
    private static final long SHARING_OFFSET = 36;
    private static final long MAKER_OFFSET = 40;
    private static final long BOOTS_OFFSET = 64;
    static final long ROOTS = 1024;
    static final long ROOTS_BYTES = ARENA - ROOTS;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();
    private static final VarHandle INT = ValueLayout.JAVA_INT.varHandle();

    private PoolLayout() {}

    static void initialise(MemorySegment memory, int arenaId, long instance) {
        memory.set(ValueLayout.JAVA_INT, VERSION_OFFSET, VERSION);
        memory.set(ValueLayout.JAVA_INT, ARENA_ID_OFFSET, arenaId);
        memory.set(ValueLayout.JAVA_LONG, BYTES_OFFSET, memory.byteSize());
        memory.set(ValueLayout.JAVA_LONG, INSTANCE_OFFSET, instance);
        // Release: pairs with the acquire in complaint. A header with this word is complete.
        LONG.setRelease(memory, MAGIC_OFFSET, MAGIC);
    }

    /** Whether the page is all zero, as on a device that was never used. */
    static boolean isBlank(MemorySegment memory) {
        return memory.asSlice(0, ARENA).mismatch(MemorySegment.ofArray(new byte[(int) ARENA])) < 0;
    }

    /**
     * Whether the page is blank, or incomplete because the process that created a pool of one host was killed. Call it
     * with the gate closed.
     */
    static boolean isUnmade(MemorySegment memory) {
        byte[] page = memory.asSlice(0, ARENA).toArray(ValueLayout.JAVA_BYTE);
        Arrays.fill(page, (int) VERSION_OFFSET, (int) SHARING_OFFSET, (byte) 0);
        return Arrays.mismatch(page, new byte[page.length]) < 0;
    }

    static long newInstance() {
        return ThreadLocalRandom.current().nextLong(1, Long.MAX_VALUE);
    }

    /** What is wrong with the header and what to do; null if nothing is. */
    static String complaint(MemorySegment memory) {
        // Acquire: pairs with the release in initialise.
        if ((long) LONG.getAcquire(memory, MAGIC_OFFSET) != MAGIC) {
            return "it has no pool header, so it is not a pool or was damaged; remove it or choose another one";
        }
        int version = memory.get(ValueLayout.JAVA_INT, VERSION_OFFSET);
        if (version != VERSION) {
            return "its layout version is " + version + " and this release has " + VERSION
                    + "; use one release on all sides, or remove it";
        }
        long bytes = memory.get(ValueLayout.JAVA_LONG, BYTES_OFFSET);
        int arenaId = arenaId(memory);
        if (bytes != memory.byteSize() || arenaId < 1 || arenaId > ArenaSpec.MAX_ID) {
            return "its header is damaged: it says " + bytes + " bytes and arena " + arenaId + ", there are "
                    + memory.byteSize() + " bytes; remove it";
        }
        return null;
    }

    static int arenaId(MemorySegment memory) {
        return memory.get(ValueLayout.JAVA_INT, ARENA_ID_OFFSET);
    }

    /** Acquire: pairs with the release in {@link #instance(MemorySegment, long)}. */
    static long instance(MemorySegment memory) {
        return (long) LONG.getAcquire(memory, INSTANCE_OFFSET);
    }

    static void instance(MemorySegment memory, long instance) {
        LONG.setRelease(memory, INSTANCE_OFFSET, instance);
    }

    /** Pairs with the release in {@link #raiseParticipants}. Limited to valid numbers, whatever the word holds. */
    static int participants(MemorySegment memory) {
        return Math.clamp((int) INT.getAcquire(memory, PARTICIPANTS_OFFSET), 0, ArenaSpec.MAX_PARTICIPANT);
    }

    /** Uses compare-and-set, since the gate excludes only processes of this host. */
    static void raiseParticipants(MemorySegment memory, int number) {
        int seen = (int) INT.getVolatile(memory, PARTICIPANTS_OFFSET);
        while (seen < number && !INT.compareAndSet(memory, PARTICIPANTS_OFFSET, seen, number)) {
            seen = (int) INT.getVolatile(memory, PARTICIPANTS_OFFSET);
        }
    }

    // ---- several hosts

    /** Call it before {@link #initialise}, whose release publishes the value. */
    static void sharedByHosts(MemorySegment memory) {
        memory.set(ValueLayout.JAVA_INT, SHARING_OFFSET, 1);
    }

    /** Call it only after {@link #complaint} returned null. */
    static boolean isSharedByHosts(MemorySegment memory) {
        return memory.get(ValueLayout.JAVA_INT, SHARING_OFFSET) != 0;
    }

    /** Makes {@code host} the one that creates the pool. Returns false if there already is one. */
    static boolean becomeMaker(MemorySegment memory, int host) {
        return INT.compareAndSet(memory, MAKER_OFFSET, 0, host + 1);
    }

    /** The host that creates or created the pool; negative if there is none. */
    static int maker(MemorySegment memory) {
        return (int) INT.getVolatile(memory, MAKER_OFFSET) - 1;
    }

    /** Whether the pool is complete. */
    static boolean isMade(MemorySegment memory) {
        // Acquire: pairs with the release in initialise.
        return (long) LONG.getAcquire(memory, MAGIC_OFFSET) == MAGIC;
    }

    /** Takes the number of {@code host} for {@code boot} if it is free. Returns the boot that has it now. */
    static long takeHost(MemorySegment memory, int host, long boot) {
        long present = (long) LONG.compareAndExchange(memory, bootOffset(host), 0L, boot);
        return present == 0 ? boot : present;
    }

    /** The boot that has that number; 0: none. */
    static long boot(MemorySegment memory, int host) {
        return (long) LONG.getVolatile(memory, bootOffset(host));
    }

    /** Releases the host's number, after its participants' memory was freed. */
    static void freeHost(MemorySegment memory, int host) {
        LONG.setVolatile(memory, bootOffset(host), 0L);
    }

    private static long bootOffset(int host) {
        return BOOTS_OFFSET + (long) host * Long.BYTES;
    }
}
