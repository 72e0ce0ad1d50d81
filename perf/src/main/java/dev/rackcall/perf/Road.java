package dev.rackcall.perf;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;

/** What lies between the two sides of a Rackcall call. */
enum Road {
    /** Memory that both map. */
    SHARED_MEMORY(Target.RTT, "", "raw-pingpong", ""),
    /** Memory of each, mirrored over the software RDMA device. */
    RDMA(
            Target.RDMA,
            "verbs",
            "soft-pingpong",
            ", over RDMA: the software device on loopback TCP, unless this host has a real one at that address"),
    /** The same over virtual queues of the control plane, which all connections of a process share. */
    QUEUES(
            Target.RDMA,
            "verbs",
            "soft-pingpong",
            ", over virtual queues of the control plane: an agent in each process, on the software device unless another was asked for"),
    /** The same, and the client's agent is another process. */
    QUEUES_OF_AGENT(
            Target.RDMA,
            "verbs",
            "soft-pingpong",
            ", over virtual queues of the control plane: the client's agent is in another process, which is the server's, on the software device unless another was asked for");

    /** Where the server side says at which address it listens. */
    private static final String ADDRESS_FILE = "rdma.address";
    /** More than any argument needs, and little enough for machines with little memory: it is reserved at both ends. */
    private static final long ARENA_QUOTA = 8 << 20;

    private final Target target;
    private final String group;
    private final String floor;
    private final String words;

    Road(Target target, String group, String floor, String words) {
        this.target = target;
        this.group = group;
        this.floor = floor;
        this.words = words;
    }

    /** The target that measures calls on it. */
    Target target() {
        return target;
    }

    String group() {
        return group;
    }

    /** The subject that does no more than hand a number over, on this road. */
    String floor() {
        return floor;
    }

    /** For people. */
    String words() {
        return words;
    }

    /** Whether only what has changed travels. */
    boolean mirrors() {
        return this != SHARED_MEMORY;
    }

    RpcServer.Builder place(RpcServer.Builder server) {
        return switch (this) {
            case SHARED_MEMORY -> server;
            case RDMA -> server.arenaQuota(ARENA_QUOTA).listen(URI.create("rdma://127.0.0.1:0"));
            case QUEUES, QUEUES_OF_AGENT -> {
                BenchQueues.serve();
                yield server.arenaQuota(ARENA_QUOTA).listen(URI.create("vq://" + BenchQueues.SERVER + ":0"));
            }
        };
    }

    /** Tells the other side where the server is. */
    void announce(RpcServer server, Path directory) throws IOException {
        if (this == QUEUES) {
            BenchQueues.announce(directory);
        }
        if (this == QUEUES_OF_AGENT) {
            BenchQueues.serveClients(directory);
        }
        if (this != SHARED_MEMORY) {
            Files.writeString(
                    directory.resolve(ADDRESS_FILE),
                    server.address().orElseThrow().toString());
        }
    }

    RpcChannel.Builder place(RpcChannel.Builder channel, Path directory) throws IOException {
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
