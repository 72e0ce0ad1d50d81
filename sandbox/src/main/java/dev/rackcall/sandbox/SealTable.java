package dev.rackcall.sandbox;

import dev.rackcall.sandbox.os.PageProtector;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.os.OsException;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;

/**
 * The sealing side of a ring: closes and opens pages and writes their descriptors. It keeps its state in the Java
 * heap and reads only marks from shared memory. One thread at a time; allocates nothing once warm.
 */
final class SealTable implements SealAuthority {
    /** Maximum gap that one system call spans: opening an open page costs about a hundredth of a system call. */
    private static final int MAX_GAP_PAGES = 64;

    private static final int INDEX_BITS = 16;

    private final MemorySegment ring;
    private final MemorySegment marks;
    private final PageProtector protector;
    private final int arenaId;
    private final long address;
    private final long size;
    private final int unitShift;
    private final SealedPages sealed;

    private final int capacity;
    private final int[] sequences;
    private final int[] runs;
    private final long[] firstPage;
    private final long[] pageCount;
    private int cursor;
    private int inUse;
    private int lastSequence;
    private long[] sorted = new long[16];

    /**
     * @param ring written by this side alone
     * @param marks written by the receiver alone
     */
    SealTable(MemorySegment ring, MemorySegment marks, PageProtector protector, SealedArea area) {
        this.ring = ring;
        this.marks = marks;
        this.protector = protector;
        this.arenaId = area.arenaId();
        this.address = area.address();
        this.size = area.bytes();
        this.unitShift = Long.numberOfTrailingZeros(area.pageBytes());
        this.sealed = new SealedPages(size >>> unitShift);
        this.capacity = SealRingLayout.capacityOf(ring);
        if (capacity == 0 || marks.byteSize() < (long) capacity * SealRingLayout.MARK_BYTES) {
            throw new IllegalArgumentException("a ring of " + ring.byteSize() + " bytes and marks of "
                    + marks.byteSize() + " bytes do not belong together");
        }
        this.sequences = new int[capacity];
        this.runs = new int[capacity];
        this.firstPage = new long[capacity];
        this.pageCount = new long[capacity];
    }

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public long seal(long[] refs, long[] bytes, int count) {
        int index = claim(count);
        long unit = 1L << unitShift;
        int described = 0;
        try {
            while (described < count) {
                long length = (bytes[described] + unit - 1) & -unit;
                check(refs[described], length);
                close((index + described) % capacity, Ref.offset(refs[described]), length);
                described++;
            }
        } catch (OsException | SealException e) {
            reopen(index, described);
            throw e instanceof SealException refused
                    ? refused
                    : new SealException("a scope cannot be sealed: " + e.getMessage(), e);
        }
        return publish(index, refs, count);
    }

    private void check(long ref, long length) {
        long offset = Ref.offset(ref);
        if (Ref.arenaId(ref) != arenaId || length <= 0 || length > size || offset > size - length) {
            throw new SealException(length + " bytes at " + Ref.describe(ref) + " do not lie in arena " + arenaId
                    + " of " + size + " bytes");
        }
        if ((offset & ((1L << unitShift) - 1)) != 0) {
            throw new SealException(
                    Ref.describe(ref) + " does not begin a page of " + (1L << unitShift)
                            + " bytes, so it cannot be sealed without its neighbours; use the mode SNAPSHOT or memory of smaller pages");
        }
        if (sealed.anyIn(offset >>> unitShift, (offset + length) >>> unitShift)) {
            throw new SealException(
                    "a page of the " + length + " bytes at " + Ref.describe(ref) + " is sealed already");
        }
    }

    private void close(int index, long offset, long length) {
        try {
            protector.protect(address + offset, length);
        } catch (OsException e) {
            // Some pages may be closed by now, and no seal would open them.
            reopen(offset, length, e);
            throw e;
        }
        firstPage[index] = offset >>> unitShift;
        pageCount[index] = length >>> unitShift;
        sealed.set(firstPage[index], firstPage[index] + pageCount[index]);
    }

    private void reopen(long offset, long length, OsException why) {
        try {
            protector.unprotect(address + offset, length);
        } catch (OsException e) {
            why.addSuppressed(e);
        }
    }

    private void reopen(int index, int count) {
        for (int i = 0; i < count; i++) {
            int at = (index + i) % capacity;
            sealed.clear(firstPage[at], firstPage[at] + pageCount[at]);
            protector.unprotect(address + (firstPage[at] << unitShift), pageCount[at] << unitShift);
        }
    }

    private int nextSequence() {
        return ++lastSequence == 0 ? ++lastSequence : lastSequence;
    }

    private long publish(int index, long[] refs, int count) {
        int sequence = nextSequence();
        for (int i = count - 1; i >= 0; i--) {
            int at = (index + i) % capacity;
            sequences[at] = sequence;
            runs[at] = count - i;
            SealRingLayout.describe(ring, at, refs[i], pageCount[at] << unitShift);
            // The first descriptor is published last: a reader that sees it sees all of them.
            int state = i == 0 ? SealRingLayout.SEALED : SealRingLayout.CONTINUED;
            SealRingLayout.publish(ring, at, SealRingLayout.word(state, count - i, sequence));
        }
        cursor = (index + count) % capacity;
        inUse += count;
        return SealRingLayout.seal(sequence, index);
    }

    @Override
    public long renew(long seal) {
        int index = SealRingLayout.index(seal);
        int count = runs[index];
        int sequence = nextSequence();
        for (int i = count - 1; i >= 0; i--) {
            int at = (index + i) % capacity;
            sequences[at] = sequence;
            // The rest of the descriptor is still valid, because the scope could not change.
            int state = i == 0 ? SealRingLayout.SEALED : SealRingLayout.CONTINUED;
            SealRingLayout.publish(ring, at, SealRingLayout.word(state, count - i, sequence));
        }
        return SealRingLayout.seal(sequence, index);
    }

    @Override
    public long pageBytes() {
        return 1L << unitShift;
    }

    @Override
    public void openPage(long page) {
        protector.unprotect(address + (page << unitShift), 1L << unitShift);
    }

    @Override
    public void closePage(long page) {
        protector.protect(address + (page << unitShift), 1L << unitShift);
    }

    /** The first of {@code count} consecutive free descriptors. */
    private int claim(int count) {
        int free = 0;
        // Once around the ring, plus the length of a row that crosses the starting point.
        for (int step = 0; count > 0 && count <= capacity - inUse && step < capacity + count; step++) {
            free = runs[(cursor + step) % capacity] == 0 ? free + 1 : 0;
            if (free == count) {
                return (cursor + step + 1 - count) % capacity;
            }
        }
        throw new SealException("a scope of " + count + " runs cannot be sealed: " + inUse + " of " + capacity
                + " descriptors are in use; release seals, or make the ring larger");
    }

    @Override
    public boolean isHeld(long seal) {
        int index = SealRingLayout.index(seal);
        return index >= 0 && index < capacity && runs[index] != 0 && sequences[index] == SealRingLayout.sequence(seal);
    }

    @Override
    public boolean isDone(long seal) {
        return isHeld(seal) && SealRingLayout.mark(marks, SealRingLayout.index(seal)) == SealRingLayout.sequence(seal);
    }

    @Override
    public long pagesOf(long seal) {
        long pages = 0;
        int index = SealRingLayout.index(seal);
        for (int i = 0; i < runs[index]; i++) {
            pages += pageCount[(index + i) % capacity];
        }
        return pages;
    }

    @Override
    public int release(long[] seals, int count, int endState) {
        int runCount = 0;
        for (int i = 0; i < count; i++) {
            runCount = retire(SealRingLayout.index(seals[i]), endState, runCount);
        }
        Arrays.sort(sorted, 0, runCount);
        int calls = 0;
        for (int i = 0; i < runCount; calls++) {
            long from = firstPage[at(i)];
            long to = from + pageCount[at(i)];
            for (i++; i < runCount && joins(to, firstPage[at(i)]); i++) {
                to = firstPage[at(i)] + pageCount[at(i)];
            }
            protector.unprotect(address + (from << unitShift), (to - from) << unitShift);
        }
        return calls;
    }

    /** Ends a seal. Receivers must see this before its pages are opened. */
    private int retire(int index, int endState, int runCount) {
        int total = runCount;
        for (int left = runs[index], at = index; left > 0; left--, at = (at + 1) % capacity) {
            SealRingLayout.publish(ring, at, SealRingLayout.word(endState, left, sequences[at]));
            sealed.clear(firstPage[at], firstPage[at] + pageCount[at]);
            runs[at] = 0;
            inUse--;
            if (total == sorted.length) {
                sorted = Arrays.copyOf(sorted, 2 * total);
            }
            sorted[total++] = (firstPage[at] << INDEX_BITS) | at;
        }
        return total;
    }

    private int at(int position) {
        return (int) sorted[position] & ((1 << INDEX_BITS) - 1);
    }

    private boolean joins(long end, long next) {
        return next - end <= MAX_GAP_PAGES && !sealed.anyIn(end, next);
    }

    @Override
    public boolean holds(int index, long offset) {
        long page = offset >>> unitShift;
        for (int i = 0; i < runs[index]; i++) {
            int at = (index + i) % capacity;
            if (page >= firstPage[at] && page - firstPage[at] < pageCount[at]) {
                return true;
            }
        }
        return false;
    }

    @Override
    public void close() {
        protector.close();
    }
}
