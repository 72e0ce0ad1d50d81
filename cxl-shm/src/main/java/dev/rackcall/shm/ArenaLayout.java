package dev.rackcall.shm;

import dev.rackcall.shm.alloc.PageTable;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;

/**
 * The layout of an arena. Offsets in Refs count from its start, where the header is, so no Ref of an object is 0.
 *
 * <pre>
 *      0  magic      "RKARENA1"                   written last
 *      8  version, arena id                       two ints
 *     16  quota      bytes, header included
 *     24  reserved   bytes from the start whose pages, and table entries, are backed by memory; only grows
 *     64  generation of each page, see Generations, if the page table's home is PRIVATE; rounded up to pages
 *   4096  page table, see PageTable, if its home is SHARED; rounded up to pages
 *      T  pages; page p of the table is at T + p * 4096
 * </pre>
 */
final class ArenaLayout {
    static final long PAGE = 4096;
    static final int PAGE_SHIFT = 12;
    static final int VERSION = 4;

    /** "RKARENA1" in ASCII, little-endian. */
    private static final long MAGIC = 0x31414e4552414b52L;

    private static final long MAGIC_OFFSET = 0;
    private static final long VERSION_OFFSET = 8;
    private static final long ID_OFFSET = 12;
    private static final long QUOTA_OFFSET = 16;
    private static final long RESERVED_OFFSET = 24;
    static final long TABLE = PAGE;

    private static final int MAX_ATTEMPTS = 100;

    private static final VarHandle LONG = ValueLayout.JAVA_LONG.varHandle();

    private ArenaLayout() {}

    static long roundUp(long bytes) {
        return (bytes + PAGE - 1) & -PAGE;
    }

    /** Offset of the first page. */
    static long firstPage(TableHome home, long quota) {
        return home == TableHome.SHARED
                ? TABLE + roundUp(PageTable.bytes(quota >>> PAGE_SHIFT))
                : roundUp(Generations.at(quota));
    }

    static void initialise(MemorySegment memory, int id, long reserved) {
        memory.set(ValueLayout.JAVA_LONG, RESERVED_OFFSET, reserved);
        identify(memory, id);
    }

    private static void identify(MemorySegment memory, int id) {
        memory.set(ValueLayout.JAVA_INT, VERSION_OFFSET, VERSION);
        memory.set(ValueLayout.JAVA_INT, ID_OFFSET, id);
        memory.set(ValueLayout.JAVA_LONG, QUOTA_OFFSET, memory.byteSize());
        // Release: pairs with the acquire in complaint. A header with this word is complete.
        LONG.setRelease(memory, MAGIC_OFFSET, MAGIC);
    }

    /** Whether the memory begins as an arena does. Its other words may still be anything. */
    static boolean hasMagic(MemorySegment memory) {
        return memory.get(ValueLayout.JAVA_LONG, MAGIC_OFFSET) == MAGIC;
    }

    /** Its maximum length, as its creator has written it. */
    static long quota(MemorySegment memory) {
        return memory.get(ValueLayout.JAVA_LONG, QUOTA_OFFSET);
    }

    /** What is wrong with the header; null if nothing is. */
    static String complaint(MemorySegment memory, int id) {
        // Acquire: pairs with the release in initialise.
        if ((long) LONG.getAcquire(memory, MAGIC_OFFSET) != MAGIC) {
            return "it has no arena header";
        }
        int version = memory.get(ValueLayout.JAVA_INT, VERSION_OFFSET);
        if (version != VERSION) {
            return "its layout version is " + version + ", this release has " + VERSION;
        }
        int found = memory.get(ValueLayout.JAVA_INT, ID_OFFSET);
        if (found != id) {
            return "its header says arena " + found;
        }
        long quota = quota(memory);
        return quota == memory.byteSize()
                ? null
                : "its header says " + quota + " bytes, mapped are " + memory.byteSize();
    }

    /**
     * Restores what its creator has written, in case a participant has overwritten it. {@code reserved} bytes are known
     * to be backed.
     *
     * @return whether anything differed
     */
    static boolean mend(MemorySegment memory, int id, long reserved) {
        if (complaint(memory, id) == null && reserved(memory) >= reserved) {
            return false;
        }
        raiseReserved(memory, reserved);
        identify(memory, id);
        return true;
    }

    /** Acquire: pairs with {@link #publishReserved} and {@link #raiseReserved}. */
    static long reserved(MemorySegment memory) {
        return (long) LONG.getAcquire(memory, RESERVED_OFFSET);
    }

    /** Offset of the table entry of the page that starts {@code bytes} behind the first page. */
    static long tableEntry(long bytes) {
        return TABLE + PageTable.entryOffset(bytes >>> PAGE_SHIFT);
    }

    /** Release: pairs with {@link #reserved}. */
    static void publishReserved(MemorySegment memory, long to) {
        LONG.setRelease(memory, RESERVED_OFFSET, to);
    }

    /**
     * Raises the reserved bytes to at least {@code target}. Other participants also only raise them, so the loop is
     * short. The number of attempts is limited in case a hostile peer keeps lowering the value.
     */
    static void raiseReserved(MemorySegment memory, long target) {
        long seen = reserved(memory);
        for (int attempt = 0; attempt < MAX_ATTEMPTS && seen < target; attempt++) {
            if (LONG.compareAndSet(memory, RESERVED_OFFSET, seen, target)) {
                return;
            }
            seen = reserved(memory);
        }
    }
}
