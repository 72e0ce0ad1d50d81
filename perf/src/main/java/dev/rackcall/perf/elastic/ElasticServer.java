package dev.rackcall.perf.elastic;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.cp.server.AgentServer;
import dev.rackcall.perf.harness.PublishedFile;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.rdma.BenchDevice;
import dev.rackcall.perf.rdma.RcServer;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;

/**
 * Servers of a key-value table. Each is reached in two ways: through an agent of its own, which a meta server knows,
 * and through an {@link RcServer}. The agent process of the workers' host also runs here, before there is any worker.
 */
final class ElasticServer implements ServerSide {
    private static final String FILE = "elastic-servers";

    /**
     * What a worker is told about a server before it starts.
     *
     * @param address of the table, for virtual queues
     * @param key of the table, for virtual queues
     * @param port of the {@link RcServer}
     */
    record Known(HostId host, long address, int key, int port) {}

    private final Deque<AutoCloseable> made = new ArrayDeque<>();

    ElasticServer(Path directory, int servers) throws IOException {
        MetaServer meta = keep(MetaServer.open(BenchDevice.get(), 64));
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < servers; i++) {
            MemorySegment table = Arena.global().allocate(RaceTable.BYTES, 4096);
            RaceTable.fill(table, i);
            HostId host = HostId.named("elastic-server-" + i);
            MemoryRegion region = agent(host, meta).admit("table").register(table, EnumSet.of(Access.REMOTE_READ));
            int port = keep(new RcServer(table, RcServer.Clients.MANY)).port();
            lines.append(host.value() + " " + region.address() + " " + region.remoteKey() + " " + port + "\n");
        }
        keep(AgentServer.open(agent(HostId.named("elastic-workers"), meta), directory));
        PublishedFile.publish(directory.resolve(FILE), lines.toString());
    }

    private Agent agent(HostId host, MetaServer meta) {
        return keep(Agent.open(BenchDevice.get(), AgentOptions.of(host).withMeta(meta::address)));
    }

    private <T extends AutoCloseable> T keep(T child) {
        made.push(child);
        return child;
    }

    static List<Known> find(Path directory) throws IOException {
        return Files.readAllLines(directory.resolve(FILE)).stream()
                .map(line -> line.split(" "))
                .map(words -> new Known(
                        new HostId(Long.parseLong(words[0])),
                        Long.parseLong(words[1]),
                        Integer.parseInt(words[2]),
                        Integer.parseInt(words[3])))
                .toList();
    }

    @Override
    public void close() {
        Optional<Exception> failure = Optional.empty();
        while (!made.isEmpty()) {
            try {
                made.pop().close();
            } catch (Exception e) {
                failure = Optional.of(e);
            }
        }
        if (failure.isPresent()) {
            throw new IllegalStateException("a server could not be closed", failure.get());
        }
    }
}
