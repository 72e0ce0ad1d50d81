package dev.rackcall.samples.demo;

import dev.rackcall.rdma.RdmaSettings;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.samples.demo.Child.Order;
import dev.rackcall.samples.demo.QueryPlan.Query;
import dev.rackcall.samples.demo.RackSeat.Host;
import dev.rackcall.samples.demo.RackSeat.Role;
import dev.rackcall.samples.demo.RackSeat.Sample;
import dev.rackcall.samples.demo.RackSeat.Setup;
import dev.rackcall.samples.documents.DocumentStore;
import dev.rackcall.samples.documents.DocumentWriter;
import dev.rackcall.samples.documents.Found;
import dev.rackcall.samples.documents.JsonDocument;
import dev.rackcall.samples.documents.NoBench;
import dev.rackcall.samples.documents.Store;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.Pool;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

/**
 * A host of the rack demo: a process that serves the store, or searches it by name. It is configured without an
 * address; its channel chooses the route.
 */
final class RackHost {
    /** For an overloaded machine. */
    private static final Duration PATIENCE = Duration.ofMinutes(3);

    private static final long STORE_BYTES = 1L << 30;
    private static final long SAMPLE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long PAUSE_MILLIS = 5;
    private static final int BURST = 50;
    private static final int BATCH = 100;

    private final Setup setup;
    private final Host host;
    private final Child child;
    /** The route of the last search, reported while that route is gone and the next is not ready. */
    private Optional<Route> lastUsed = Optional.empty();

    private RackHost(Setup setup, Child child) {
        this.setup = setup;
        this.host = setup.host();
        this.child = child;
    }

    /** The one argument is a {@link Setup}. */
    public static void main(String[] args) {
        Setup setup = Child.MAPPER.readValue(args[0], Setup.class);
        Child.run(setup.workplace(), child -> new RackHost(setup, child).run());
    }

    private void run() throws InterruptedException {
        Optional<HostAgent> agent = HostAgent.open(host, PATIENCE);
        try {
            if (host.role() == Role.SERVE) {
                serve(agent.isPresent());
            } else {
                search();
            }
        } finally {
            agent.ifPresent(HostAgent::close);
        }
    }

    private Optional<Pool> openPool() {
        return host.pool().map(device -> Pool.dax(device.path(), device.number()));
    }

    private void serve(boolean overQueues) throws InterruptedException {
        RdmaSettings.helloTimeout(PATIENCE);
        Optional<Pool> pool = openPool();
        Store store = new Store();
        RpcServer.Builder server = RpcServer.builder()
                .service(DocumentStore.class, store)
                .sharedQuota(STORE_BYTES)
                .runtimeFolder(setup.runtime())
                .directory(host.directory())
                .host(host.name())
                .listen(host.listen())
                // The hosts of a demo are the only ones in their network.
                .insecure();
        if (overQueues) {
            server.listen(URI.create("vq://" + host.name() + ":0"));
        }
        pool.ifPresent(server::pool);
        try (RpcServer _ = server.start()) {
            child.ready();
            child.take();
            store.close();
        } finally {
            pool.ifPresent(Pool::close);
        }
    }

    private void search() throws InterruptedException {
        List<JsonDocument> documents = documents();
        QueryPlan queries = new QueryPlan(documents, host.seed());
        Optional<Pool> pool = openPool();
        boolean fills = host.role() == Role.FILL_AND_SEARCH;
        try (RpcChannel channel = channel(pool)) {
            DocumentStore store = channel.stub(DocumentStore.class);
            if (fills) {
                fill(channel, store, documents);
            }
            child.ready();
            for (Order order = child.poll(); order != Order.QUIT; order = child.poll()) {
                if (order == Order.LEAVE_MEMORY) {
                    channel.leavePool();
                } else if (order == Order.TAKE_MEMORY) {
                    pool.ifPresent(channel::usePool);
                }
                sample(channel, store, queries);
            }
        } finally {
            pool.ifPresent(Pool::close);
        }
    }

    private RpcChannel channel(Optional<Pool> pool) {
        RpcChannel.Builder channel = RpcChannel.builder(DocumentStore.CHANNEL)
                .runtimeFolder(setup.runtime())
                .directory(host.directory())
                .host(host.name())
                .connectTimeout(PATIENCE)
                .defaultTimeout(PATIENCE);
        pool.ifPresent(channel::pool);
        return channel.open();
    }

    private List<JsonDocument> documents() {
        NoBench generator = NoBench.of(host.seed(), host.count());
        return LongStream.range(0, host.count()).mapToObj(generator::document).toList();
    }

    private static void fill(RpcChannel channel, DocumentStore store, List<JsonDocument> documents) {
        DocumentWriter writer = new DocumentWriter();
        for (int from = 0; from < documents.size(); from += BATCH) {
            try (Scope scope = channel.newSharedScope()) {
                store.put(writer.write(scope, documents.subList(from, Math.min(from + BATCH, documents.size()))));
            }
        }
    }

    /** Searches for half a second, in bursts that leave processor time to others, and reports the result. */
    private void sample(RpcChannel channel, DocumentStore store, QueryPlan queries) throws InterruptedException {
        Latencies latencies = new Latencies();
        long failed = 0;
        String problem = "";
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < SAMPLE_NANOS) {
            for (int i = 0; i < BURST && System.nanoTime() - begin < SAMPLE_NANOS; i++) {
                long start = System.nanoTime();
                Optional<String> trouble = trySearch(store, queries.next().orElseThrow());
                if (trouble.isEmpty()) {
                    latencies.record(System.nanoTime() - start);
                } else {
                    failed++;
                    problem = trouble.get();
                }
            }
            Thread.sleep(PAUSE_MILLIS);
        }
        Optional<Route> used = channel.routes().stream()
                .filter(route -> route.state() == Route.State.USED)
                .findFirst()
                .or(() -> lastUsed);
        lastUsed = used;
        child.answer(new Sample(
                host.name(),
                used.map(Route::host).orElse("none"),
                used.map(route -> route.kind().toString()).orElse("none"),
                used.filter(route -> route.kind().isMemory()).isPresent(),
                used.filter(route -> route.kind().isQueue()).isPresent(),
                latencies.count(),
                failed,
                problem,
                latencies.percentile(50),
                latencies.percentile(99),
                (System.nanoTime() - begin) / 1e9));
    }

    /**
     * Requests only the number of matches, because the documents stay in the memory of the server's rack. Returns the
     * problem, if there was one.
     */
    private static Optional<String> trySearch(DocumentStore store, Query query) {
        try {
            Found found = query.find(store, 0);
            return found.total() > 0 ? Optional.empty() : Optional.of("a document that is there was not found");
        } catch (RpcException e) {
            return Optional.of(e.getMessage());
        }
    }
}
