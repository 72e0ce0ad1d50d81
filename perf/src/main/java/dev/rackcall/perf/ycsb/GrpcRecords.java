package dev.rackcall.perf.ycsb;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.peers.GrpcTransport;
import dev.rackcall.perf.ycsb.proto.RecordsGrpc;
import dev.rackcall.perf.ycsb.proto.RecordsProto.Done;
import dev.rackcall.perf.ycsb.proto.RecordsProto.RecordChange;
import dev.rackcall.perf.ycsb.proto.RecordsProto.RecordKey;
import dev.rackcall.perf.ycsb.proto.RecordsProto.RecordRow;
import dev.rackcall.perf.ycsb.proto.RecordsProto.Rows;
import dev.rackcall.perf.ycsb.proto.RecordsProto.ScanRequest;
import io.grpc.ManagedChannel;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The service over grpc-java. Thread-safe. */
record GrpcRecords(RecordsGrpc.RecordsBlockingStub stub) implements RecordService {
    static ServerSide serve(Path directory) throws IOException {
        return GrpcTransport.UNIX_SOCKET.serve(directory, true, new Handlers(new RecordStore()).bindService());
    }

    static YcsbPeer.Connection connect(Path directory) throws IOException {
        ManagedChannel channel =
                GrpcTransport.UNIX_SOCKET.channel(directory).directExecutor().build();
        return YcsbPeer.Connection.shared(new GrpcRecords(RecordsGrpc.newBlockingStub(channel)), channel::shutdownNow);
    }

    @Override
    public Optional<List<byte[]>> read(String key) {
        return rows(stub.read(RecordKey.newBuilder().setKey(key).build())).stream()
                .map(Row::values)
                .findFirst();
    }

    @Override
    public List<Row> scan(String firstKey, int count) {
        return rows(stub.scan(
                ScanRequest.newBuilder().setFirstKey(firstKey).setCount(count).build()));
    }

    @Override
    public void insert(String key, List<byte[]> values) {
        stub.insert(message(key, values));
    }

    @Override
    public boolean update(String key, Map<Integer, byte[]> values) {
        RecordChange.Builder change = RecordChange.newBuilder().setKey(key);
        values.forEach((field, value) -> change.putValues(field, UnsafeByteOperations.unsafeWrap(value)));
        return stub.update(change.build()).getFound();
    }

    /** The row without a copy of the values: neither end changes them later. */
    private static RecordRow message(String key, List<byte[]> values) {
        RecordRow.Builder row = RecordRow.newBuilder().setKey(key);
        values.forEach(value -> row.addValues(UnsafeByteOperations.unsafeWrap(value)));
        return row.build();
    }

    private static List<byte[]> values(RecordRow row) {
        return row.getValuesList().stream().map(ByteString::toByteArray).toList();
    }

    private static List<Row> rows(Rows rows) {
        return rows.getRowsList().stream()
                .map(row -> new Row(row.getKey(), values(row)))
                .toList();
    }

    /** The same table behind gRPC. */
    private static final class Handlers extends RecordsGrpc.RecordsImplBase {
        private final RecordStore table;

        Handlers(RecordStore table) {
            this.table = table;
        }

        @Override
        public void read(RecordKey request, StreamObserver<Rows> reply) {
            Rows.Builder rows = Rows.newBuilder();
            // The caller has the key.
            table.read(request.getKey()).ifPresent(row -> rows.addRows(message("", row)));
            answer(reply, rows.build());
        }

        @Override
        public void scan(ScanRequest request, StreamObserver<Rows> reply) {
            Rows.Builder rows = Rows.newBuilder();
            table.scan(request.getFirstKey(), request.getCount())
                    .forEach(row -> rows.addRows(message(row.key(), row.values())));
            answer(reply, rows.build());
        }

        @Override
        public void insert(RecordRow row, StreamObserver<Done> reply) {
            table.insert(row.getKey(), values(row));
            done(reply, true);
        }

        @Override
        public void update(RecordChange change, StreamObserver<Done> reply) {
            Map<Integer, byte[]> values = new HashMap<>();
            change.getValuesMap().forEach((field, value) -> values.put(field, value.toByteArray()));
            done(reply, table.update(change.getKey(), values));
        }

        private static void done(StreamObserver<Done> reply, boolean isFound) {
            answer(reply, Done.newBuilder().setFound(isFound).build());
        }

        private static <T> void answer(StreamObserver<T> reply, T message) {
            reply.onNext(message);
            reply.onCompleted();
        }
    }
}
