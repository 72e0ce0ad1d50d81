package dev.rackcall.perf.ycsb;

import com.google.protobuf.ByteString;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.peers.GrpcTransport;
import dev.rackcall.perf.ycsb.proto.RecordsGrpc;
import dev.rackcall.perf.ycsb.proto.RecordsProto.Done;
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
    public Optional<Map<String, byte[]>> read(String key) {
        return rows(stub.read(key(key))).stream().map(Row::fields).findFirst();
    }

    @Override
    public List<Row> scan(String firstKey, int count) {
        return rows(stub.scan(
                ScanRequest.newBuilder().setFirstKey(firstKey).setCount(count).build()));
    }

    @Override
    public void insert(String key, Map<String, byte[]> fields) {
        stub.insert(message(key, fields));
    }

    @Override
    public boolean update(String key, Map<String, byte[]> fields) {
        return stub.update(message(key, fields)).getFound();
    }

    @Override
    public boolean delete(String key) {
        return stub.delete(key(key)).getFound();
    }

    private static RecordKey key(String key) {
        return RecordKey.newBuilder().setKey(key).build();
    }

    private static RecordRow message(String key, Map<String, byte[]> fields) {
        RecordRow.Builder row = RecordRow.newBuilder().setKey(key);
        fields.forEach((field, value) -> row.putFields(field, ByteString.copyFrom(value)));
        return row.build();
    }

    private static Map<String, byte[]> fields(RecordRow row) {
        Map<String, byte[]> fields = HashMap.newHashMap(row.getFieldsCount());
        row.getFieldsMap().forEach((field, value) -> fields.put(field, value.toByteArray()));
        return fields;
    }

    private static List<Row> rows(Rows rows) {
        return rows.getRowsList().stream()
                .map(row -> new Row(row.getKey(), fields(row)))
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
            table.read(request.getKey()).ifPresent(row -> rows.addRows(message(request.getKey(), row)));
            answer(reply, rows.build());
        }

        @Override
        public void scan(ScanRequest request, StreamObserver<Rows> reply) {
            Rows.Builder rows = Rows.newBuilder();
            table.scan(request.getFirstKey(), request.getCount())
                    .forEach(row -> rows.addRows(message(row.key(), row.fields())));
            answer(reply, rows.build());
        }

        @Override
        public void insert(RecordRow row, StreamObserver<Done> reply) {
            table.insert(row.getKey(), fields(row));
            done(reply, true);
        }

        @Override
        public void update(RecordRow row, StreamObserver<Done> reply) {
            done(reply, table.update(row.getKey(), fields(row)));
        }

        @Override
        public void delete(RecordKey request, StreamObserver<Done> reply) {
            done(reply, table.delete(request.getKey()));
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
