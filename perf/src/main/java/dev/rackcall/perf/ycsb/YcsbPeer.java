package dev.rackcall.perf.ycsb;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.HostProgram;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;

/** The compared stores; the order of the constants is the order of the turns. */
enum YcsbPeer implements Sides {
    RACKCALL(
            "the service by value, over shared memory, one channel a process, default (adaptive) waiting, handlers on the polling thread"),
    REDIS("redis-server on its Unix socket without persistence, Jedis 7, one connection a thread; a hash a record and a"
            + " sorted set of keys, an insert and a scan's reads pipelined"),
    MEMCACHED("memcached on TCP loopback, because spymemcached 2.12, one client a process, has no Unix sockets; the"
            + " record is one value, an update is gets and cas; it cannot scan"),
    GRPC("the service with protobuf messages, grpc-java 1.83 on a Unix socket, one channel a process, direct executors,"
            + " one epoll event loop a process");

    private final String settings;

    YcsbPeer(String settings) {
        this.settings = settings;
    }

    /** The connection of one process. */
    interface Connection extends AutoCloseable {
        /** The records for one more thread. */
        RecordService service() throws IOException;

        @Override
        void close();

        /** One that all threads share. */
        static Connection shared(RecordService service, Runnable close) {
            return new Connection() {
                @Override
                public RecordService service() {
                    return service;
                }

                @Override
                public void close() {
                    close.run();
                }
            };
        }
    }

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    String settings() {
        return settings;
    }

    boolean runs(YcsbWorkload workload) {
        return this != MEMCACHED || workload != YcsbWorkload.E;
    }

    /** What this host lacks for it. */
    Optional<String> missing() {
        return switch (this) {
            case RACKCALL, GRPC -> Optional.empty();
            case REDIS -> missing(RedisRecords.PROGRAM, "redis-server");
            case MEMCACHED -> missing(MemcachedRecords.PROGRAM, "memcached");
        };
    }

    private static Optional<String> missing(String program, String packageName) {
        return HostProgram.onPath(program).isPresent()
                ? Optional.empty()
                : Optional.of(
                        "there is no " + program + " on the PATH; install it with: apt-get install " + packageName);
    }

    @Override
    public ServerSide serve(Path directory) throws IOException {
        return switch (this) {
            case RACKCALL ->
                RpcServer.builder()
                        .runtimeFolder(directory.resolve("rackcall"))
                        .service(RecordService.class, new RecordStore())
                        .start()::close;
            case REDIS -> RedisRecords.serve(directory);
            case MEMCACHED -> MemcachedRecords.serve(directory);
            case GRPC -> GrpcRecords.serve(directory);
        };
    }

    @Override
    public ClientSide connect(Path directory) throws IOException {
        return new YcsbClient(open(directory));
    }

    Connection open(Path directory) throws IOException {
        return switch (this) {
            case RACKCALL -> {
                RpcChannel channel = RpcChannel.builder(RecordService.CHANNEL)
                        .runtimeFolder(directory.resolve("rackcall"))
                        .open();
                yield Connection.shared(channel.stub(RecordService.class), channel::close);
            }
            case REDIS -> RedisRecords.connect(directory);
            case MEMCACHED -> MemcachedRecords.connect(directory);
            case GRPC -> GrpcRecords.connect(directory);
        };
    }
}
