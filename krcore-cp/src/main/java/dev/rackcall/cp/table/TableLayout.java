package dev.rackcall.cp.table;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/**
 * A hash table that other hosts read one-sided. Buckets have four records. A key lies in one of four neighbouring
 * buckets, so a lookup is one READ of sixteen records. Three extra buckets follow the last one, so that no lookup wraps
 * around.
 *
 * <pre>
 *   record:  +0 check (4) | +4 epoch of the table (4) | +8 key (8) | +16 payload
 * </pre>
 *
 * A READ may see the bytes of a record in any order, so a check over all other bytes detects torn records. An empty
 * place has key 0. Numbers are in the machine's byte order, which all hosts of a control plane share.
 */
final class TableLayout {
    static final int SLOTS = 4;
    static final int NEIGHBOURS = 4;
    /** Records that a lookup reads. */
    static final int WINDOW = NEIGHBOURS * SLOTS;

    static final int HEADER_BYTES = 16;

    private static final int EPOCH = 4;
    private static final int KEY = 8;

    private TableLayout() {}

    /** Whether the place is empty. */
    static boolean isEmpty(MemorySegment memory, long at) {
        return key(memory, at) == 0 && memory.get(JAVA_INT_UNALIGNED, at) == 0;
    }

    /** Whether the record is not torn. */
    static boolean isWhole(MemorySegment memory, long at, int recordBytes) {
        return memory.get(JAVA_INT_UNALIGNED, at) == check(memory, at, recordBytes);
    }

    static int epoch(MemorySegment memory, long at) {
        return memory.get(JAVA_INT_UNALIGNED, at + EPOCH);
    }

    static long key(MemorySegment memory, long at) {
        return memory.get(JAVA_LONG_UNALIGNED, at + KEY);
    }

    /** Writes a record's header, after its payload. */
    static void seal(MemorySegment memory, long at, int recordBytes, int epoch, long key) {
        memory.set(JAVA_INT_UNALIGNED, at + EPOCH, epoch);
        memory.set(JAVA_LONG_UNALIGNED, at + KEY, key);
        memory.set(JAVA_INT_UNALIGNED, at, check(memory, at, recordBytes));
    }

    /** The number of a key's first bucket. */
    static int bucket(long key, int log2Buckets) {
        return (int) mix(key) & ((1 << log2Buckets) - 1);
    }

    /** The number of all buckets, including the extra ones. */
    static long buckets(int log2Buckets) {
        return (1L << log2Buckets) + NEIGHBOURS - 1;
    }

    private static int check(MemorySegment memory, long at, int recordBytes) {
        long sum = epoch(memory, at);
        for (int i = KEY; i < recordBytes; i += Long.BYTES) {
            sum = mix(sum ^ memory.get(JAVA_LONG_UNALIGNED, at + i));
        }
        int check = (int) (sum ^ (sum >>> 32));
        return check == 0 ? 1 : check;
    }

    /** The finalizer of MurmurHash3, in which each input bit affects all output bits. */
    static long mix(long value) {
        long hash = value;
        hash = (hash ^ (hash >>> 33)) * 0xFF51AFD7ED558CCDL;
        hash = (hash ^ (hash >>> 33)) * 0xC4CEB9FE1A85EC53L;
        return hash ^ (hash >>> 33);
    }
}
