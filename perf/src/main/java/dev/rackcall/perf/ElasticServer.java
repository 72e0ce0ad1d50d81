package dev.rackcall.perf;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.cp.server.AgentServer;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;

/**
 * Servers of a key-value table, each reached in two ways: by an agent of its own, which a meta server knows, and by reliable queue pairs that it
 * makes on request over TCP. And the agent process of the workers' host, which runs before there is any worker.
 */
final class ElasticServer implements ServerSide {
    private static final String FILE = "elastic-servers";

    /**
     * What a worker knows of a server before it begins.
     *
     * @param address of the table, for virtual queues
     * @param key of the table, for virtual queues
     * @param port where reliable queue pairs are made
     */
    record Known(HostId host, long address, int key, int port) {}

    private final Deque<AutoCloseable> made = new ArrayDeque<>();

    ElasticServer(Path directory, int servers) throws IOException {
        MetaServer meta = keep(MetaServer.open(BenchDevice.get(), 64));
        List<String> lines = new ArrayList<>();
        for (int i = 0; i < servers; i++) {
            MemorySegment table = Arena.global().allocate(RaceTable.BYTES, 4096);
            RaceTable.fill(table, i);
            HostId host = HostId.named("elastic-server-" + i);
            Agent agent =
                    keep(Agent.open(BenchDevice.get(), AgentOptions.of(host).withMeta(meta::address)));
            MemoryRegion region = agent.admit("table").register(table, EnumSet.of(Access.REMOTE_READ));
            FreshServer fresh = keep(new FreshServer(table));
            lines.add(host.value() + " " + region.address() + " " + region.remoteKey() + " " + fresh.port());
        }
        AgentOptions options = AgentOptions.of(HostId.named("elastic-workers")).withMeta(meta::address);
        Agent local = keep(Agent.open(BenchDevice.get(), options));
        keep(AgentServer.open(local, directory));
        Path draft = directory.resolve(FILE + ".draft");
        Files.write(draft, lines);
        Files.move(draft, directory.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
    }

    private <T extends AutoCloseable> T keep(T child) {
        made.push(child);
        return child;
    }

    /** What the server side has said about its servers. */
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
