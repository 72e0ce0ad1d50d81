package dev.rackcall.cp;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * What this host knows of others, 52 bytes each: records lie densely in chunks, and an index of four bytes a place, filled to 0.4 at least
 * and 0.8 at most, leads to them. With all that it takes 64 bytes a host. Any thread may use it.
 */
final class MetadataCache {
    private static final int ENTRY_BYTES = Long.BYTES + HostRecord.BYTES;
    private static final int CHUNK_ENTRIES = 64;
    private static final int FREE = -1;

    private final List<ByteBuffer> chunks = new ArrayList<>();
    private int[] index = {FREE, FREE, FREE, FREE};
    private int count;

    synchronized int count() {
        return count;
    }

    /** Bytes of records and index, as far as they are allocated. */
    synchronized long byteSize() {
        return (long) chunks.size() * CHUNK_ENTRIES * ENTRY_BYTES + (long) index.length * Integer.BYTES;
    }

    synchronized Optional<HostRecord> find(HostId host) {
        int place = place(host.value());
        return index[place] == FREE ? Optional.empty() : Optional.of(record(index[place]));
    }

    synchronized void put(HostId host, HostRecord record) {
        int place = place(host.value());
        int entry = index[place];
        if (entry == FREE) {
            if ((count + 1) * 5 > index.length * 4) {
                grow();
                place = place(host.value());
            }
            entry = count++;
            index[place] = entry;
            if (entry == chunks.size() * CHUNK_ENTRIES) {
                chunks.add(ByteBuffer.allocate(CHUNK_ENTRIES * ENTRY_BYTES).order(ByteOrder.nativeOrder()));
            }
        }
        ByteBuffer chunk = at(entry);
        chunk.putLong(host.value());
        record.writeTo(chunk);
    }

    /** Forgets a host, if this is still what is known of it. */
    synchronized void remove(HostId host, int epoch) {
        int place = place(host.value());
        int entry = index[place];
        if (entry == FREE || record(entry).epoch() != epoch) {
            return;
        }
        free(place);
        int last = --count;
        if (entry != last) {
            // The last record moves into the gap, so that they stay dense.
            int lastPlace = place(key(last));
            byte[] bytes = new byte[ENTRY_BYTES];
            at(last).get(bytes);
            at(entry).put(bytes);
            index[lastPlace] = entry;
        }
        if (chunks.size() * CHUNK_ENTRIES - count >= 2 * CHUNK_ENTRIES) {
            chunks.removeLast();
        }
    }

    /** Linear probing without tombstones: what follows moves up. */
    private void free(int gap) {
        int mask = index.length - 1;
        int hole = gap;
        index[hole] = FREE;
        for (int i = (hole + 1) & mask; index[i] != FREE; i = (i + 1) & mask) {
            int home = home(key(index[i]));
            if (((i - home) & mask) >= ((i - hole) & mask)) {
                index[hole] = index[i];
                index[i] = FREE;
                hole = i;
            }
        }
    }

    private void grow() {
        index = new int[index.length * 2];
        Arrays.fill(index, FREE);
        for (int i = 0; i < count; i++) {
            index[place(key(i))] = i;
        }
    }

    private int home(long key) {
        return (int) TableLayout.mix(key) & (index.length - 1);
    }

    /** Where this key's entry is, or would be. */
    private int place(long key) {
        int i = home(key);
        while (index[i] != FREE && key(index[i]) != key) {
            i = (i + 1) & (index.length - 1);
        }
        return i;
    }

    private long key(int entry) {
        return at(entry).getLong();
    }

    private HostRecord record(int entry) {
        ByteBuffer chunk = at(entry);
        chunk.position(chunk.position() + Long.BYTES);
        return HostRecord.read(chunk);
    }

    private ByteBuffer at(int entry) {
        return chunks.get(entry / CHUNK_ENTRIES).position(entry % CHUNK_ENTRIES * ENTRY_BYTES);
    }
}
