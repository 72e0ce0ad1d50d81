package dev.rackcall.samples.demo;

import dev.rackcall.rdma.RdmaSettings;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.samples.demo.DemoMessages.Order;
import dev.rackcall.samples.documents.DocumentStore;
import dev.rackcall.samples.documents.DocumentStoreService;
import dev.rackcall.samples.documents.DocumentWriter;
import dev.rackcall.samples.documents.Found;
import dev.rackcall.samples.documents.JsonDocument;
import dev.rackcall.samples.documents.NoBench;
import dev.rackcall.samples.documents.Store;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.Pool;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/** A host of the rack demo: a process that serves the store, or searches it by name. It knows no address; its channel chooses the route. */
final class RackHost {
    /** For an overloaded machine. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final long STORE_BYTES = 1L << 30;
    private static final long SAMPLE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long PAUSE_MILLIS = 5;
    private static final int BURST = 50;
    private static final int BATCH = 100;

    private final Setup setup;
    private final ChildOrders orders;
    /** Reported while one route is gone and the next is not ready. */
    private Optional<Route> lastUsed = Optional.empty();

    private RackHost(Setup setup, ChildOrders orders) {
        this.setup = setup;
        this.orders = orders;
    }

    /** The kinds of hosts. */
    enum Role {
        /** Serves the store. */
        SERVE,
        /** Puts all documents into it, then searches. */
        FILL_AND_SEARCH,
        SEARCH
    }

    /**
     * A host's setup.
     *
     * @param workplace of the whole demo, which a host removes if the demo has died
     * @param runtime the host's runtime directory, which stands for its memory unless it has a pool
     * @param pool memory that it shares with other machines
     * @param listen where it serves clients that share no memory with it
     * @param meta the address of the control plane's meta server, for an agent in this process. If it is empty, the host uses the machine's agent
     *     process. Without an agent there are no virtual queues, and each connection has a queue pair of its own
     */
    record Setup(
            Role role,
            String host,
            Path workplace,
            Path runtime,
            URI directory,
            Optional<Device> pool,
            URI listen,
            Optional<String> meta,
            int count,
            long seed) {}

    /**
     * A device that is the memory of several machines.
     *
     * @param number of the machine among them
     */
    record Device(Path path, int number) {}

    /**
     * A host's searches since its last sample.
     *
     * @param server the host that serves it
     * @param over the route's kind
     * @param memory whether that is memory
     * @param searches that found what they had to find
     * @param failed searches that failed or found nothing
     * @param problem how the last of those ended
     */
    record Sample(
            String host,
            String server,
            String over,
            boolean memory,
            long searches,
            long failed,
            String problem,
            long p50Nanos,
            long p99Nanos,
            double seconds) {}

    /** The one argument is a {@link Setup}. */
    public static void main(String[] args) {
        Setup setup = DemoMessages.MAPPER.readValue(args[0], Setup.class);
        ChildOrders.obey(setup.workplace(), orders -> new RackHost(setup, orders).run());
    }

    private void run() throws InterruptedException {
        Optional<HostAgent> agent = HostAgent.open(setup, PATIENCE);
        try {
            if (setup.role() == Role.SERVE) {
                serve(agent.isPresent());
            } else {
                search();
            }
        } finally {
            agent.ifPresent(HostAgent::close);
        }
    }

    private Optional<Pool> openPool() {
        return setup.pool().map(device -> Pool.dax(device.path(), device.number()));
    }

    private void serve(boolean overQueues) throws InterruptedException {
        RdmaSettings.helloTimeout(PATIENCE);
        Optional<Pool> pool = openPool();
        Store store = new Store();
        RpcServer.Builder server = RpcServer.builder()
                .service(DocumentStore.class, DocumentStoreService.of(store))
                .sharedQuota(STORE_BYTES)
                .directory(setup.runtime())
                .directory(setup.directory())
                .host(setup.host())
                .listen(setup.listen());
        if (overQueues) {
            server.listen(URI.create("vq://" + setup.host() + ":0"));
        }
        pool.ifPresent(server::pool);
        try (RpcServer _ = server.start()) {
            orders.ready();
            orders.take();
            store.close();
        } finally {
            pool.ifPresent(Pool::close);
        }
    }

    private void search() throws InterruptedException {
        List<JsonDocument> documents = documents();
        QueryPlan queries = new QueryPlan(documents, setup.seed());
        Optional<Pool> pool = openPool();
        boolean fills = setup.role() == Role.FILL_AND_SEARCH;
        try (RpcChannel channel = channel(pool)) {
            DocumentStore store = channel.stub(DocumentStore.class);
            if (fills) {
                fill(channel, store, documents);
            }
            orders.ready();
            for (Order order = orders.poll(); order != Order.QUIT; order = orders.poll()) {
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
                .directory(setup.runtime())
                .directory(setup.directory())
                .host(setup.host())
                .connectTimeout(PATIENCE);
        pool.ifPresent(channel::pool);
        return channel.open();
    }

    private List<JsonDocument> documents() {
        NoBench generator = NoBench.of(setup.seed(), setup.count());
        List<JsonDocument> documents = new ArrayList<>(setup.count());
        for (int i = 0; i < setup.count(); i++) {
            documents.add(generator.document(i));
        }
        return documents;
    }

    private static void fill(RpcChannel channel, DocumentStore store, List<JsonDocument> documents) {
        DocumentWriter writer = new DocumentWriter();
        for (int from = 0; from < documents.size(); from += BATCH) {
            try (Scope scope = channel.newSharedScope()) {
                writer.begin(scope);
                store.put(writer.write(documents.subList(from, Math.min(from + BATCH, documents.size()))));
            }
        }
    }

    /** Searches for half a second, in bursts that leave processor time to others, and reports the result. */
    private void sample(RpcChannel channel, DocumentStore store, QueryPlan queries) throws InterruptedException {
        Histogram latencies = Latencies.create();
        long failed = 0;
        String problem = "";
        long begin = System.nanoTime();
        while (System.nanoTime() - begin < SAMPLE_NANOS) {
            for (int i = 0; i < BURST && System.nanoTime() - begin < SAMPLE_NANOS; i++) {
                long start = System.nanoTime();
                Optional<String> trouble = trySearch(store, queries.next().orElseThrow());
                if (trouble.isEmpty()) {
                    Latencies.record(latencies, System.nanoTime() - start);
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
        orders.answer(new Sample(
                setup.host(),
                used.map(Route::host).orElse("nobody"),
                used.map(route -> route.kind().toString()).orElse("nothing"),
                used.filter(route -> route.kind().isMemory()).isPresent(),
                latencies.getTotalCount(),
                failed,
                problem,
                latencies.getValueAtPercentile(50),
                latencies.getValueAtPercentile(99),
                (System.nanoTime() - begin) / 1e9));
    }

    /**
     * Asks for the number of matches only, because the documents stay in the memory of the server's rack. Returns the
     * problem, if there was one.
     */
    private static Optional<String> trySearch(DocumentStore store, Query query) {
        try {
            Found found = switch (query) {
                case Query.Text text -> store.withText(text.path(), text.text(), 0);
                case Query.Range range -> store.withNumber(range.path(), range.low(), range.high(), 0);
            };
            return found.total() > 0 ? Optional.empty() : Optional.of("a document that is there was not found");
        } catch (RpcException e) {
            return Optional.of(e.getMessage());
        }
    }
}
