package dev.rackcall.perf.ycsb;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.atomic.AtomicReference;

/** Records in the Java heap: a hash table for single ones, a sorted map for scans. Thread-safe. */
final class RecordStore implements RecordService {
    /** Both maps have the same references; an update replaces all fields at once. */
    private final Map<String, AtomicReference<RecordFields>> records = new ConcurrentHashMap<>();

    private final ConcurrentSkipListMap<String, AtomicReference<RecordFields>> ordered = new ConcurrentSkipListMap<>();

    @Override
    public Optional<Map<String, byte[]>> read(String key) {
        AtomicReference<RecordFields> record = records.get(key);
        return record == null ? Optional.empty() : Optional.of(record.get());
    }

    @Override
    public List<Row> scan(String firstKey, int count) {
        List<Row> rows = new ArrayList<>(count);
        for (Map.Entry<String, AtomicReference<RecordFields>> record :
                ordered.tailMap(firstKey).entrySet()) {
            if (rows.size() == count) {
                break;
            }
            rows.add(new Row(record.getKey(), record.getValue().get()));
        }
        return rows;
    }

    @Override
    public void insert(String key, Map<String, byte[]> fields) {
        RecordFields stored = RecordFields.of(fields);
        records.compute(key, (_, old) -> {
            AtomicReference<RecordFields> record = old == null ? new AtomicReference<>() : old;
            record.set(stored);
            if (old == null) {
                ordered.put(key, record);
            }
            return record;
        });
    }

    @Override
    public boolean update(String key, Map<String, byte[]> fields) {
        AtomicReference<RecordFields> record = records.get(key);
        if (record == null) {
            return false;
        }
        record.updateAndGet(old -> old.with(fields));
        return true;
    }

    @Override
    public boolean delete(String key) {
        AtomicReference<RecordFields> removed = records.remove(key);
        // Only this reference: the key may have been inserted again.
        return removed != null && ordered.remove(key, removed);
    }
}
