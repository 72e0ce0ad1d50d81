package dev.rackcall.cp.table;

import dev.rackcall.cp.HostId;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Optional;

/**
 * A cache of host records that takes at most 64 bytes a host, for any number of hosts. Records of 52 bytes are sorted
 * by key in one buffer; a sixteenth may be spare. Adding a host moves the records after it. Any thread may use it.
 */
public final class MetadataCache {
    private static final int ENTRY_BYTES = Long.BYTES + HostRecord.BYTES;
    /** There is at most one spare record for this many records. */
    private static final int SPARE = 16;

    private ByteBuffer entries = ByteBuffer.allocate(0);
    private int count;

    public synchronized int count() {
        return count;
    }

    /** Bytes of all records, including spare ones. */
    public synchronized long byteSize() {
        return entries.capacity();
    }

    public synchronized Optional<HostRecord> find(HostId host) {
        int index = search(host.value());
        return index < 0 ? Optional.empty() : Optional.of(record(index));
    }

    public synchronized void put(HostId host, HostRecord record) {
        int index = search(host.value());
        if (index < 0) {
            index = -1 - index;
            if (count == entries.capacity() / ENTRY_BYTES) {
                resize(count + Math.max(1, count / SPARE));
            }
            move(index, index + 1, count - index);
            count++;
        }
        entries.position(index * ENTRY_BYTES).putLong(host.value());
        record.writeTo(entries);
    }

    /** Forgets a host, unless another life of it is cached by now. */
    public synchronized void remove(HostId host, int epoch) {
        int index = search(host.value());
        if (index < 0 || record(index).epoch() != epoch) {
            return;
        }
        count--;
        move(index + 1, index, count - index);
        if (entries.capacity() / ENTRY_BYTES - count > count / SPARE) {
            resize(count);
        }
    }

    /** The index of this key's record, or -1 minus the index where it belongs. */
    private int search(long key) {
        int low = 0;
        int high = count - 1;
        while (low <= high) {
            int middle = (low + high) >>> 1;
            long found = entries.getLong(middle * ENTRY_BYTES);
            if (found == key) {
                return middle;
            }
            if (found < key) {
                low = middle + 1;
            } else {
                high = middle - 1;
            }
        }
        return -1 - low;
    }

    private HostRecord record(int index) {
        return HostRecord.read(entries.position(index * ENTRY_BYTES + Long.BYTES));
    }

    private void move(int from, int to, int records) {
        System.arraycopy(entries.array(), from * ENTRY_BYTES, entries.array(), to * ENTRY_BYTES, records * ENTRY_BYTES);
    }

    private void resize(int records) {
        ByteBuffer changed = ByteBuffer.allocate(records * ENTRY_BYTES).order(ByteOrder.nativeOrder());
        changed.put(0, entries, 0, count * ENTRY_BYTES);
        entries = changed;
    }
}
