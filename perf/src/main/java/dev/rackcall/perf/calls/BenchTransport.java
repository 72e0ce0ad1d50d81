package dev.rackcall.perf.calls;

import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;

/** The transport between the two sides of a Rackcall call. */
public enum BenchTransport {
    /** Memory that both map. */
    SHARED_MEMORY(""),
    /** Memory of each, mirrored over the software RDMA device. */
    RDMA(", over RDMA: the software device on loopback TCP, unless this host has a real one at that address"),
    /** The same over virtual queues of the control plane, which all connections of a process share. */
    QUEUES(
            ", over virtual queues of the control plane: an agent in each process, on the software device unless --device names another"),
    /** The same, and the client's agent is another process. */
    QUEUES_OF_AGENT(
            ", over virtual queues of the control plane: the client's agent is in another process, which is the server's, on the software device unless --device names another");

    /** The group of the calls over RDMA and of their floor. */
    public static final String RDMA_GROUP = "verbs";
    /** The server side writes its address there. */
    private static final String ADDRESS_FILE = "rdma.address";
    /** More than any argument needs, but small, because both ends reserve it, and some machines have little memory. */
    private static final long ARENA_QUOTA = 8 << 20;

    private final String words;

    BenchTransport(String words) {
        this.words = words;
    }

    /** The transport for a reader, as the rest of a sentence. */
    String words() {
        return words;
    }

    /** Whether only changed memory is sent. */
    boolean mirrors() {
        return this != SHARED_MEMORY;
    }

    /** The subject with the target, the group and the floor of calls over this transport. */
    Subject measured(Subject subject) {
        return this == SHARED_MEMORY ? subject : subject.in(BenchTarget.RDMA, RDMA_GROUP, "soft-pingpong");
    }

    /** Starts the server and tells clients its address. */
    RpcServer start(RpcServer.Builder builder, Path directory) throws IOException {
        if (this == SHARED_MEMORY) {
            return builder.start();
        }
        if (this != RDMA) {
            BenchQueues.serve();
        }
        RpcServer server = builder.arenaQuota(ARENA_QUOTA)
                .listen(URI.create(this == RDMA ? "rdma://127.0.0.1:0" : "vq://" + BenchQueues.SERVER + ":0"))
                .start();
        if (this == QUEUES) {
            BenchQueues.announce(directory);
        }
        if (this == QUEUES_OF_AGENT) {
            BenchQueues.serveClients(directory);
        }
        Files.writeString(
                directory.resolve(ADDRESS_FILE), server.address().orElseThrow().toString());
        return server;
    }

    /** A channel to the server of that directory, over this transport. */
    RpcChannel.Builder channel(Path directory) throws IOException {
        RpcChannel.Builder channel =
                RpcChannel.builder(BenchCalls.CHANNEL).runtimeFolder(directory.resolve("rackcall"));
        if (this == SHARED_MEMORY) {
            return channel;
        }
        if (this == QUEUES) {
            BenchQueues.join(directory);
        }
        if (this == QUEUES_OF_AGENT) {
            BenchQueues.joinAgent(directory);
        }
        return channel.arenaQuota(ARENA_QUOTA).address(URI.create(Files.readString(directory.resolve(ADDRESS_FILE))));
    }
}
