package dev.rackcall.perf.ycsb;

import dev.rackcall.perf.harness.BenchFailure;
import dev.rackcall.perf.harness.ServerSide;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import net.spy.memcached.CASResponse;
import net.spy.memcached.CASValue;
import net.spy.memcached.ConnectionFactoryBuilder;
import net.spy.memcached.MemcachedClient;

/** Records in memcached, each as one value. It cannot scan. Thread-safe. */
record MemcachedRecords(MemcachedClient client) implements RecordService {
    static final String PROGRAM = "memcached";
    private static final String PORT_FILE = "memcached.port";
    private static final String PORT_LINE = "TCP INET: ";
    /** Only a hang exceeds it. The usual 2.5 s can pass on a busy host. */
    private static final long BOUND_MILLIS = 30_000;

    static ServerSide serve(Path directory) throws IOException {
        Path ports = directory.resolve(PORT_FILE);
        // -1: a free port, which it writes into the file. Run as root, memcached requires -u.
        ProcessBuilder builder = new ProcessBuilder(
                PROGRAM, "-l", "127.0.0.1", "-p", "-1", "-m", "1024", "-u", System.getProperty("user.name"));
        builder.environment().put("MEMCACHED_PORT_FILENAME", ports.toString());
        return StoreProgram.start(builder, ports);
    }

    static YcsbPeer.Connection connect(Path directory) throws IOException {
        int port = Files.readAllLines(directory.resolve(PORT_FILE)).stream()
                .filter(line -> line.startsWith(PORT_LINE))
                .mapToInt(line -> Integer.parseInt(line.substring(PORT_LINE.length())))
                .findFirst()
                .orElseThrow();
        MemcachedClient client = new MemcachedClient(
                new ConnectionFactoryBuilder()
                        .setOpTimeout(BOUND_MILLIS)
                        .setDaemon(true)
                        .build(),
                List.of(new InetSocketAddress(InetAddress.getLoopbackAddress(), port)));
        return YcsbPeer.Connection.shared(new MemcachedRecords(client), client::shutdown);
    }

    @Override
    public Optional<List<byte[]>> read(String key) {
        return Optional.ofNullable((byte[]) client.get(key)).map(MemcachedRecords::decoded);
    }

    @Override
    public List<Row> scan(String firstKey, int count) {
        throw new UnsupportedOperationException("memcached cannot scan");
    }

    @Override
    public void insert(String key, List<byte[]> values) {
        if (!client.set(key, 0, encoded(values)).getStatus().isSuccess()) {
            throw new BenchFailure("memcached did not store the record " + key);
        }
    }

    @Override
    public boolean update(String key, Map<Integer, byte[]> values) {
        while (true) {
            CASValue<Object> old = client.gets(key);
            if (old == null) {
                return false;
            }
            List<byte[]> row = decoded((byte[]) old.getValue());
            values.forEach(row::set);
            if (client.cas(key, old.getCas(), encoded(row)) == CASResponse.OK) {
                return true;
            }
        }
    }

    private static byte[] encoded(List<byte[]> row) {
        ByteBuffer encoded = ByteBuffer.allocate(
                row.stream().mapToInt(value -> Short.BYTES + value.length).sum());
        row.forEach(value -> encoded.putShort((short) value.length).put(value));
        return encoded.array();
    }

    private static List<byte[]> decoded(byte[] encoded) {
        List<byte[]> row = new ArrayList<>();
        for (ByteBuffer left = ByteBuffer.wrap(encoded); left.hasRemaining(); ) {
            byte[] value = new byte[left.getShort()];
            left.get(value);
            row.add(value);
        }
        return row;
    }
}
