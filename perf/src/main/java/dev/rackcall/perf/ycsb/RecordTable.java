package dev.rackcall.perf.ycsb;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentSkipListSet;

/** Records in the Java heap: a hash table for single ones, their keys in order for scans. Thread-safe. */
final class RecordTable implements RecordService {
    /** The maps never change: an update replaces its record's, so that readers see all of an update or nothing of it. */
    private final Map<String, Map<String, byte[]>> records = new ConcurrentHashMap<>();

    private final ConcurrentSkipListSet<String> keys = new ConcurrentSkipListSet<>();

    @Override
    public Optional<Map<String, byte[]>> read(String key, Set<String> fields) {
        return Optional.ofNullable(records.get(key)).map(record -> chosen(record, fields));
    }

    @Override
    public List<Row> scan(String firstKey, int count, Set<String> fields) {
        List<Row> rows = new ArrayList<>(count);
        for (String key : keys.tailSet(firstKey)) {
            if (rows.size() == count) {
                break;
            }
            Map<String, byte[]> record = records.get(key);
            if (record != null) {
                rows.add(new Row(key, chosen(record, fields)));
            }
        }
        return rows;
    }

    private static Map<String, byte[]> chosen(Map<String, byte[]> record, Set<String> fields) {
        if (fields.isEmpty()) {
            return record;
        }
        Map<String, byte[]> chosen = new HashMap<>(record);
        chosen.keySet().retainAll(fields);
        return chosen;
    }

    @Override
    public void insert(String key, Map<String, byte[]> fields) {
        records.put(key, fields);
        keys.add(key);
    }

    @Override
    public boolean update(String key, Map<String, byte[]> fields) {
        return records.computeIfPresent(key, (_, old) -> {
                    Map<String, byte[]> updated = new HashMap<>(old);
                    updated.putAll(fields);
                    return updated;
                })
                != null;
    }

    @Override
    public boolean delete(String key) {
        keys.remove(key);
        return records.remove(key) != null;
    }
}
