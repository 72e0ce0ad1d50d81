package dev.rackcall.perf.elastic;

import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.MemoryRegion;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

/** A worker that is a tenant of the agent process of its host, as each process would be. */
final class VirtualWorker implements ElasticWorker {
    private final Tenant tenant;
    private final MemoryRegion region;

    VirtualWorker(Path directory) {
        tenant = AgentFolder.join(directory, "worker");
        region = tenant.allocate(4096, EnumSet.of(Access.LOCAL_WRITE));
    }

    @Override
    public List<RaceReader> connect(List<ElasticServer.Known> servers) {
        List<VirtualQueue> queues =
                tenant.connect(servers.stream().map(ElasticServer.Known::host).toList());
        List<RaceReader> readers = new ArrayList<>();
        for (ElasticServer.Known server : servers) {
            VirtualQueue queue = queues.get(readers.size());
            readers.add(new RaceReader.OneSided(
                    region,
                    queue::push,
                    queue::pop,
                    () -> ": " + queue.failure().orElse(""),
                    server.address(),
                    server.key()));
        }
        return readers;
    }

    @Override
    public void close() {
        tenant.close();
    }
}
