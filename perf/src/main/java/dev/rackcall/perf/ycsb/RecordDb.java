package dev.rackcall.perf.ycsb;

import dev.rackcall.perf.harness.BenchFailure;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.Vector;
import java.util.stream.IntStream;
import site.ycsb.ByteArrayByteIterator;
import site.ycsb.ByteIterator;
import site.ycsb.DB;
import site.ycsb.Status;

/**
 * YCSB's binding to the service. It stamps every value that it writes and checks every record that it reads: a missing or
 * wrong one ends the run. Confined to one thread.
 */
final class RecordDb extends DB {
    /** YCSB's names of fields before their number. */
    private static final String PREFIX = "field";

    private final RecordService service;
    private final String[] names;
    private final RecordStamp stamp = new RecordStamp();

    /** @param fieldCount fields of each record */
    RecordDb(RecordService service, int fieldCount) {
        this.service = service;
        this.names =
                IntStream.range(0, fieldCount).mapToObj(field -> PREFIX + field).toArray(String[]::new);
    }

    @Override
    public Status read(String table, String key, Set<String> fields, Map<String, ByteIterator> result) {
        List<byte[]> row = service.read(key).orElseThrow(() -> new BenchFailure("there is no record " + key));
        take(key, row, fields, result);
        return Status.OK;
    }

    @Override
    @SuppressWarnings("NonApiType") // YCSB's choice
    public Status scan(
            String table,
            String startkey,
            int count,
            Set<String> fields,
            Vector<HashMap<String, ByteIterator>> result) {
        List<RecordService.Row> rows = service.scan(startkey, count);
        // Every scan of YCSB starts at a record that it has inserted.
        require(!rows.isEmpty() && rows.size() <= count && rows.getFirst().key().equals(startkey), startkey);
        String last = "";
        for (RecordService.Row row : rows) {
            require(last.compareTo(row.key()) < 0, row.key());
            HashMap<String, ByteIterator> taken = new HashMap<>();
            take(row.key(), row.values(), fields, taken);
            result.add(taken);
            last = row.key();
        }
        return Status.OK;
    }

    @Override
    public Status update(String table, String key, Map<String, ByteIterator> values) {
        require(service.update(key, stamped(key, values)), key);
        return Status.OK;
    }

    @Override
    public Status insert(String table, String key, Map<String, ByteIterator> values) {
        service.insert(key, List.copyOf(new TreeMap<>(stamped(key, values)).values()));
        return Status.OK;
    }

    @Override
    public Status delete(String table, String key) {
        return Status.NOT_IMPLEMENTED; // no core workload deletes
    }

    private void take(String key, List<byte[]> row, Set<String> fields, Map<String, ByteIterator> result) {
        require(row.size() == names.length, key);
        for (int field = 0; field < names.length; field++) {
            byte[] value = row.get(field);
            require(stamp.fits(key, field, value), key);
            if (fields == null || fields.contains(names[field])) {
                result.put(names[field], new ByteArrayByteIterator(value));
            }
        }
    }

    private Map<Integer, byte[]> stamped(String key, Map<String, ByteIterator> values) {
        Map<Integer, byte[]> stamped = HashMap.newHashMap(values.size());
        values.forEach((name, value) -> {
            int field = Integer.parseInt(name, PREFIX.length(), name.length(), 10);
            byte[] bytes = value.toArray();
            stamp.put(key, field, bytes);
            stamped.put(field, bytes);
        });
        return stamped;
    }

    private static void require(boolean isRight, String key) {
        if (!isRight) {
            throw new BenchFailure("the record " + key + " is missing, wrong or out of order; the measurement is void");
        }
    }
}
