package dev.rackcall.cp.table;

import dev.rackcall.cp.HostId;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/**
 * What this host knows of others, 64 bytes each at most, however many they are: 52 bytes of record, which lie densely in chunks of 64 of which the last one has a sixteenth of all records to spare at most,
 * and an index of four bytes a place, of which eight at most fall to a host. (The headers of Java objects, some 72 bytes a chunk, are not counted.) Any thread may use it.
 */
public final class MetadataCache {
    private static final int ENTRY_BYTES = Long.BYTES + HostRecord.BYTES;
    private static final int CHUNK_ENTRIES = 64;
    /** Of the records there are, so many times less may be to spare. */
    private static final int SPARE = 16;

    private static final int FREE = -1;

    private final List<ByteBuffer> chunks = new ArrayList<>();
    /** Has a free place always, where searches end. */
    private int[] index = {FREE};

    private int count;

    public synchronized int count() {
        return count;
    }

    /** Bytes of records and index, as far as they are allocated. */
    public synchronized long byteSize() {
        return (long) room() * ENTRY_BYTES + (long) index.length * Integer.BYTES;
    }

    public synchronized Optional<HostRecord> find(HostId host) {
        int place = place(host.value());
        return index[place] == FREE ? Optional.empty() : Optional.of(record(index[place]));
    }

    public synchronized void put(HostId host, HostRecord record) {
        int place = place(host.value());
        int entry = index[place];
        if (entry == FREE) {
            if ((count + 1) * 5L > index.length * 4L) {
                resizeIndex(count + 1);
                place = place(host.value());
            }
            if (count == room()) {
                addRoom();
            }
            entry = count++;
            index[place] = entry;
        }
        ByteBuffer chunk = at(entry);
        chunk.putLong(host.value());
        record.writeTo(chunk);
    }

    /** Forgets a host, if this is still what is known of it. */
    public synchronized void remove(HostId host, int epoch) {
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
        if (room() - count > count / SPARE) {
            trim();
        }
        if (index.length > 2 * count + 1) {
            resizeIndex(count);
        }
    }

    /** Linear probing without tombstones: what follows moves up. */
    private void free(int gap) {
        int hole = gap;
        index[hole] = FREE;
        for (int i = next(hole); index[i] != FREE; i = next(i)) {
            if (distance(home(key(index[i])), i) >= distance(hole, i)) {
                index[hole] = index[i];
                index[i] = FREE;
                hole = i;
            }
        }
    }

    private int next(int place) {
        return place + 1 == index.length ? 0 : place + 1;
    }

    private int distance(int from, int to) {
        return to >= from ? to - from : to - from + index.length;
    }

    /** For so many records, and some more or less: it is filled to two thirds then, and at most to 0.8. */
    private void resizeIndex(int records) {
        index = new int[records + records / 2 + 1];
        Arrays.fill(index, FREE);
        for (int i = 0; i < count; i++) {
            index[place(key(i))] = i;
        }
    }

    /** Records for which there is memory. */
    private int room() {
        return chunks.isEmpty()
                ? 0
                : (chunks.size() - 1) * CHUNK_ENTRIES + chunks.getLast().capacity() / ENTRY_BYTES;
    }

    private void addRoom() {
        int more = Math.max(1, count / SPARE);
        int inLast = count % CHUNK_ENTRIES;
        if (inLast > 0) {
            resizeLast(Math.min(inLast + more, CHUNK_ENTRIES));
        } else {
            chunks.add(chunk(Math.min(more, CHUNK_ENTRIES)));
        }
    }

    private void trim() {
        while (chunks.size() > 1 && (chunks.size() - 1) * CHUNK_ENTRIES >= count) {
            chunks.removeLast();
        }
        if (count == 0) {
            chunks.clear();
        } else if (room() > count) {
            resizeLast(count - (chunks.size() - 1) * CHUNK_ENTRIES);
        }
    }

    private void resizeLast(int entries) {
        ByteBuffer last = chunks.removeLast().clear();
        ByteBuffer changed = chunk(entries);
        last.limit(Math.min(last.capacity(), changed.capacity()));
        changed.put(last);
        chunks.add(changed);
    }

    private static ByteBuffer chunk(int entries) {
        return ByteBuffer.allocate(entries * ENTRY_BYTES).order(ByteOrder.nativeOrder());
    }

    /** Spreads the low half of the hash over all places, of which there are any number. */
    private int home(long key) {
        return (int) (((TableLayout.mix(key) & 0xFFFF_FFFFL) * index.length) >>> 32);
    }

    /** Where this key's entry is, or would be. */
    private int place(long key) {
        int i = home(key);
        while (index[i] != FREE && key(index[i]) != key) {
            i = next(i);
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
