package dev.rackcall.perf.ycsb;

import java.util.AbstractMap;
import java.util.AbstractSet;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The fields of one record as two arrays, of which records with the same fields share that of the names. A hash map for
 * each record would scatter its entries over memory: most of the time of a scan would be cache misses. Immutable.
 */
final class RecordFields extends AbstractMap<String, byte[]> {
    private static final Map<List<String>, String[]> NAMES = new ConcurrentHashMap<>();

    private final String[] names;
    private final byte[][] values;

    private RecordFields(String[] names, byte[][] values) {
        this.names = names;
        this.values = values;
    }

    static RecordFields of(Map<String, byte[]> fields) {
        List<String> sorted = new ArrayList<>(fields.keySet());
        sorted.sort(null);
        String[] names = NAMES.computeIfAbsent(sorted, unseen -> unseen.toArray(String[]::new));
        byte[][] values = new byte[names.length][];
        for (int i = 0; i < names.length; i++) {
            values[i] = fields.get(names[i]);
        }
        return new RecordFields(names, values);
    }

    /** A copy with other values of these fields. */
    RecordFields with(Map<String, byte[]> changed) {
        byte[][] updated = values.clone();
        int found = 0;
        for (int i = 0; i < names.length; i++) {
            byte[] value = changed.get(names[i]);
            if (value != null) {
                updated[i] = value;
                found++;
            }
        }
        if (found == changed.size()) {
            return new RecordFields(names, updated);
        }
        Map<String, byte[]> all = new HashMap<>(this);
        all.putAll(changed);
        return of(all);
    }

    @Override
    public Set<Entry<String, byte[]>> entrySet() {
        return new AbstractSet<>() {
            @Override
            public int size() {
                return names.length;
            }

            @Override
            public Iterator<Entry<String, byte[]>> iterator() {
                return new Iterator<>() {
                    private int next;

                    @Override
                    public boolean hasNext() {
                        return next < names.length;
                    }

                    @Override
                    public Entry<String, byte[]> next() {
                        int field = next++;
                        return Map.entry(names[field], values[field]);
                    }
                };
            }
        };
    }
}
