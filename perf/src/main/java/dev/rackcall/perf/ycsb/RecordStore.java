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
    /** Both maps have the same references; an update replaces all values at once. */
    private final Map<String, AtomicReference<List<byte[]>>> records = new ConcurrentHashMap<>();

    private final ConcurrentSkipListMap<String, AtomicReference<List<byte[]>>> ordered = new ConcurrentSkipListMap<>();

    @Override
    public Optional<List<byte[]>> read(String key) {
        AtomicReference<List<byte[]>> record = records.get(key);
        return record == null ? Optional.empty() : Optional.of(record.get());
    }

    @Override
    public List<Row> scan(String firstKey, int count) {
        List<Row> rows = new ArrayList<>(count);
        for (Map.Entry<String, AtomicReference<List<byte[]>>> record :
                ordered.tailMap(firstKey).entrySet()) {
            if (rows.size() == count) {
                break;
            }
            rows.add(new Row(record.getKey(), record.getValue().get()));
        }
        return rows;
    }

    @Override
    public void insert(String key, List<byte[]> values) {
        records.compute(key, (_, old) -> {
            AtomicReference<List<byte[]>> record = old == null ? new AtomicReference<>() : old;
            record.set(values);
            if (old == null) {
                ordered.put(key, record);
            }
            return record;
        });
    }

    @Override
    public boolean update(String key, Map<Integer, byte[]> values) {
        AtomicReference<List<byte[]>> record = records.get(key);
        if (record == null) {
            return false;
        }
        record.updateAndGet(old -> {
            List<byte[]> updated = new ArrayList<>(old);
            values.forEach(updated::set);
            return updated;
        });
        return true;
    }
}
