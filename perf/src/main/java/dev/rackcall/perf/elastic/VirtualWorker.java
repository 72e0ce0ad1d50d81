package dev.rackcall.perf.elastic;

import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.VirtualQueue;
import dev.rackcall.cp.client.AgentFolder;
import dev.rackcall.verbs.Access;
import dev.rackcall.verbs.Completions;
import dev.rackcall.verbs.MemoryRegion;
import dev.rackcall.verbs.WorkRequest;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;

/** A worker that is a tenant of the agent process of its host, as each process would be. */
final class VirtualWorker implements ElasticWorker {
    private final Tenant tenant;
    private final MemoryRegion region;
    private final Completions batch = Completions.create(4);

    VirtualWorker(Path directory) {
        tenant = AgentFolder.join(directory, "worker");
        region = tenant.allocate(4096, EnumSet.of(Access.LOCAL_WRITE));
    }

    @Override
    public List<RaceReader> connect(List<ElasticServer.Known> servers) {
        List<VirtualQueue> queues =
                tenant.connect(servers.stream().map(ElasticServer.Known::host).toList());
        List<RaceReader> readers = new ArrayList<>();
        for (int i = 0; i < queues.size(); i++) {
            readers.add(new QueueReader(queues.get(i), servers.get(i)));
        }
        return readers;
    }

    private final class QueueReader extends RaceReader {
        private final VirtualQueue queue;
        private final ElasticServer.Known server;
        private final WorkRequest request = WorkRequest.create(1, 0);

        QueueReader(VirtualQueue queue, ElasticServer.Known server) {
            super(region.memory());
            this.queue = queue;
            this.server = server;
        }

        @Override
        void read(long tableOffset, int landingOffset, int length) {
            request.read(server.address() + tableOffset, server.key())
                    .from(region, landingOffset, length)
                    .signaled();
            if (!queue.push(request)) {
                throw new IllegalStateException("the virtual queue has no room for a READ");
            }
        }

        @Override
        int completed() {
            int count = queue.pop(batch);
            for (int i = 0; i < count; i++) {
                if (!batch.isSuccess(i)) {
                    throw new IllegalStateException("a READ ended with " + batch.status(i) + ": "
                            + queue.failure().orElse(""));
                }
            }
            return count;
        }
    }

    @Override
    public void close() {
        tenant.close();
    }
}
