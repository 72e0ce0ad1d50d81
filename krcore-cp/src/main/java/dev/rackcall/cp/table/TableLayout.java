package dev.rackcall.cp.table;

import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.lang.foreign.MemorySegment;

/**
 * A hash table that others read one-sided: buckets of four records. A key lies in one of four neighbouring buckets, so that a look-up is one READ of sixteen
 * records. Behind the last bucket there are three more for those that would go on at the beginning.
 *
 * <pre>
 *   record:  +0 check (4) | +4 epoch of the table (4) | +8 key (8) | +16 payload
 * </pre>
 *
 * The order in which a READ sees the bytes of a record is promised by nobody, so what is torn is found by the check over all other bytes.
 * An empty place has key 0. Numbers are in the machine's byte order (hosts of one control plane have the same).
 */
final class TableLayout {
    static final int SLOTS = 4;
    static final int NEIGHBOURS = 4;
    /** Records among which a key lies, if it is there. */
    static final int WINDOW = NEIGHBOURS * SLOTS;

    static final int HEADER_BYTES = 16;

    private static final int EPOCH = 4;
    private static final int KEY = 8;

    private TableLayout() {}

    /** Whether the record at this place is empty. */
    static boolean isEmpty(MemorySegment memory, long at) {
        return key(memory, at) == 0 && memory.get(JAVA_INT_UNALIGNED, at) == 0;
    }

    /** Whether it is whole. */
    static boolean isWhole(MemorySegment memory, long at, int recordBytes) {
        return memory.get(JAVA_INT_UNALIGNED, at) == check(memory, at, recordBytes);
    }

    static int epoch(MemorySegment memory, long at) {
        return memory.get(JAVA_INT_UNALIGNED, at + EPOCH);
    }

    static long key(MemorySegment memory, long at) {
        return memory.get(JAVA_LONG_UNALIGNED, at + KEY);
    }

    /** Completes a record whose payload is there. */
    static void seal(MemorySegment memory, long at, int recordBytes, int epoch, long key) {
        memory.set(JAVA_INT_UNALIGNED, at + EPOCH, epoch);
        memory.set(JAVA_LONG_UNALIGNED, at + KEY, key);
        memory.set(JAVA_INT_UNALIGNED, at, check(memory, at, recordBytes));
    }

    /** Number of the first of a key's buckets. */
    static int bucket(long key, int log2Buckets) {
        return (int) mix(key) & ((1 << log2Buckets) - 1);
    }

    /** All buckets of a table, with those behind the last one. */
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

    /** The finalizer of MurmurHash3, which leaves no bit without influence on any other. */
    static long mix(long value) {
        long hash = value;
        hash = (hash ^ (hash >>> 33)) * 0xFF51AFD7ED558CCDL;
        hash = (hash ^ (hash >>> 33)) * 0xC4CEB9FE1A85EC53L;
        return hash ^ (hash >>> 33);
    }
}
