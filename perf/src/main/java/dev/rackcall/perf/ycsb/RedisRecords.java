package dev.rackcall.perf.ycsb;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.rackcall.perf.harness.ServerSide;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import redis.clients.jedis.Jedis;
import redis.clients.jedis.Pipeline;
import redis.clients.jedis.Response;
import redis.clients.jedis.exceptions.JedisConnectionException;

/** Records in Redis: each is a hash, and a sorted set has all keys. Confined to one thread. */
record RedisRecords(Jedis jedis) implements RecordService {
    static final String PROGRAM = "redis-server";
    private static final byte[] KEYS = "keys".getBytes(UTF_8);
    private static final byte[] END = {'+'};

    static ServerSide serve(Path directory) throws IOException {
        Path socket = socket(directory);
        return StoreProgram.start(
                new ProcessBuilder(
                        PROGRAM, "--port", "0", "--unixsocket", socket.toString(), "--save", "", "--appendonly", "no"),
                socket);
    }

    static YcsbPeer.Connection connect(Path directory) {
        ConcurrentLinkedQueue<Jedis> opened = new ConcurrentLinkedQueue<>();
        return new YcsbPeer.Connection() {
            @Override
            public RecordService service() {
                Jedis jedis = new Jedis(() -> {
                    try {
                        return new RedisSocket(socket(directory));
                    } catch (IOException e) {
                        throw new JedisConnectionException("cannot connect to " + socket(directory), e);
                    }
                });
                opened.add(jedis);
                return new RedisRecords(jedis);
            }

            @Override
            public void close() {
                opened.forEach(Jedis::close);
            }
        };
    }

    private static Path socket(Path directory) {
        return directory.resolve("redis.sock");
    }

    @Override
    public Optional<List<byte[]>> read(String key) {
        List<byte[]> row = values(jedis.hgetAll(bytes(key)));
        return row.isEmpty() ? Optional.empty() : Optional.of(row);
    }

    @Override
    public List<Row> scan(String firstKey, int count) {
        List<byte[]> keys = jedis.zrangeByLex(KEYS, bytes("[" + firstKey), END, 0, count);
        List<Response<Map<byte[], byte[]>>> replies;
        try (Pipeline pipeline = jedis.pipelined()) {
            replies = keys.stream().map(pipeline::hgetAll).toList();
        }
        List<Row> rows = new ArrayList<>(keys.size());
        for (int i = 0; i < keys.size(); i++) {
            rows.add(new Row(text(keys.get(i)), values(replies.get(i).get())));
        }
        return rows;
    }

    @Override
    public void insert(String key, List<byte[]> values) {
        try (Pipeline pipeline = jedis.pipelined()) {
            Map<byte[], byte[]> record = HashMap.newHashMap(values.size());
            for (int field = 0; field < values.size(); field++) {
                record.put(bytes(Integer.toString(field)), values.get(field));
            }
            Response<Long> stored = pipeline.hset(bytes(key), record);
            Response<Long> listed = pipeline.zadd(KEYS, 0, bytes(key));
            pipeline.sync();
            stored.get(); // get() throws the error of a failed command
            listed.get();
        }
    }

    /** HSET returns the number of new fields: 0 if the record exists. */
    @Override
    public boolean update(String key, Map<Integer, byte[]> values) {
        Map<byte[], byte[]> changed = HashMap.newHashMap(values.size());
        values.forEach((field, value) -> changed.put(bytes(Integer.toString(field)), value));
        return jedis.hset(bytes(key), changed) == 0;
    }

    private static List<byte[]> values(Map<byte[], byte[]> reply) {
        byte[][] values = new byte[reply.size()][];
        reply.forEach((field, value) -> values[Integer.parseInt(text(field))] = value);
        return Arrays.asList(values);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(UTF_8);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, UTF_8);
    }
}
