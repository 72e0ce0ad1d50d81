package dev.rackcall.perf.ycsb;

import dev.rackcall.rpc.Rpc;
import dev.rackcall.rpc.RpcService;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** A key-value service with YCSB's operations. A field has a number, as in a protobuf message: its name does not travel. */
@RpcService(RecordService.CHANNEL)
public interface RecordService {
    String CHANNEL = "/ycsb/records";

    /** A record with its key. */
    record Row(String key, List<byte[]> values) {}

    @Rpc(idempotent = true)
    Optional<List<byte[]>> read(String key);

    /** At most {@code count} records in the order of their keys, from the first key that is not below {@code firstKey}. */
    @Rpc(idempotent = true)
    List<Row> scan(String firstKey, int count);

    /** Stores a record; replaces one with the same key. */
    @Rpc(idempotent = true)
    void insert(String key, List<byte[]> values);

    /** Replaces these fields of a record; false if there is no such record. */
    @Rpc(idempotent = true)
    boolean update(String key, Map<Integer, byte[]> values);
}
