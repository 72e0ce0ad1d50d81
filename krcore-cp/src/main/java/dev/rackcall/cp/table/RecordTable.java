package dev.rackcall.cp.table;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.ProtectionDomain;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.security.SecureRandom;
import java.util.EnumSet;
import java.util.Optional;

/** The writer of a table in registered memory, see {@link TableLayout}. Any thread may use it. */
public final class RecordTable implements AutoCloseable {
    private static final byte ZERO = 0;

    private final String what;
    private final int recordBytes;
    private final int capacity;
    private final int epoch;
    private final int log2Buckets;
    private final Arena arena = Arena.ofShared();
    private final MemorySegment memory;
    private final MemorySegment draft;
    private final MemoryRegion region;
    private int count;

    /**
     * @param what for messages
     * @param capacity maximum number of records; the table has at least four times as many places, so four full
     *     neighbouring buckets are next to impossible
     */
    public RecordTable(ProtectionDomain domain, String what, int recordBytes, int capacity, int epoch) {
        if (capacity < 1 || capacity > 1 << 22) {
            throw new IllegalArgumentException(what + " has room for 1 to 4194304 records, not " + capacity);
        }
        this.what = what;
        this.recordBytes = recordBytes;
        this.capacity = capacity;
        this.epoch = epoch;
        // One record a bucket on average, each in the emptiest of four neighbours. In a full table of 2^21 buckets,
        // five buckets are full, and no two of them are neighbours.
        int buckets = Math.max(2, capacity);
        log2Buckets = Integer.SIZE - Integer.numberOfLeadingZeros(buckets - 1);
        memory = arena.allocate(TableLayout.buckets(log2Buckets) * TableLayout.SLOTS * recordBytes, 64);
        draft = arena.allocate(recordBytes, 64);
        region = domain.register(memory, EnumSet.of(Access.REMOTE_READ));
    }

    /**
     * Draws an epoch at random. It cannot be counted up, since no life leaves its epoch to the next; and clocks differ.
     */
    public static int drawEpoch(SecureRandom random) {
        int epoch = random.nextInt();
        return epoch == 0 ? 1 : epoch;
    }

    public TableLocation location() {
        return new TableLocation(region.address(), region.remoteKey(), log2Buckets, epoch);
    }

    public synchronized int count() {
        return count;
    }

    public long byteSize() {
        return memory.byteSize();
    }

    /**
     * Adds the record of a key, or replaces it.
     *
     * @param payload the bytes after the header
     * @throws ControlPlaneException if there is no room
     */
    public synchronized void put(long key, byte[] payload) {
        long at = find(key);
        if (at < 0) {
            at = freePlace(key);
            count++;
        }
        draft.fill(ZERO);
        MemorySegment.copy(MemorySegment.ofArray(payload), 0, draft, TableLayout.HEADER_BYTES, payload.length);
        TableLayout.seal(draft, 0, recordBytes, epoch, key);
        MemorySegment.copy(draft, 0, memory, at, recordBytes);
        // Readers on other hosts cannot pair with this fence; they detect a torn record by its check.
        VarHandle.releaseFence();
    }

    /** The payload of a key's record, with padding. */
    public synchronized Optional<byte[]> get(long key) {
        long at = find(key);
        return at < 0
                ? Optional.empty()
                : Optional.of(memory.asSlice(at + TableLayout.HEADER_BYTES, recordBytes - TableLayout.HEADER_BYTES)
                        .toArray(ValueLayout.JAVA_BYTE));
    }

    /** Removes the record of a key. Returns whether there was one. */
    public synchronized boolean remove(long key) {
        long at = find(key);
        if (at < 0) {
            return false;
        }
        memory.asSlice(at, recordBytes).fill(ZERO);
        VarHandle.releaseFence();
        count--;
        return true;
    }

    private long find(long key) {
        long first = bucket(key, 0);
        for (int slot = 0; slot < TableLayout.WINDOW; slot++) {
            long at = first + (long) slot * recordBytes;
            if (TableLayout.key(memory, at) == key) {
                return at;
            }
        }
        return -1;
    }

    /** A free place in the emptiest of the key's buckets. */
    private long freePlace(long key) {
        if (count == capacity) {
            throw full("all " + capacity + " places are taken");
        }
        long emptiest = bucket(key, 0);
        for (int choice = 1; choice < TableLayout.NEIGHBOURS; choice++) {
            long next = bucket(key, choice);
            emptiest = used(next) < used(emptiest) ? next : emptiest;
        }
        for (int slot = 0; slot < TableLayout.SLOTS; slot++) {
            long at = emptiest + (long) slot * recordBytes;
            if (TableLayout.key(memory, at) == 0) {
                return at;
            }
        }
        throw full("all buckets of this key are, with " + count + " of " + capacity + " places taken");
    }

    private ControlPlaneException full(String how) {
        return new ControlPlaneException(
                ControlPlaneException.Kind.TABLE_FULL, what + " is full: " + how + "; make it for more records");
    }

    private int used(long bucket) {
        int used = 0;
        for (int slot = 0; slot < TableLayout.SLOTS; slot++) {
            used += TableLayout.key(memory, bucket + (long) slot * recordBytes) == 0 ? 0 : 1;
        }
        return used;
    }

    /** The offset of one of a key's buckets. */
    private long bucket(long key, int choice) {
        return ((long) TableLayout.bucket(key, log2Buckets) + choice) * TableLayout.SLOTS * recordBytes;
    }

    @Override
    public void close() {
        region.close();
        arena.close();
    }
}
