package dev.rackcall.samples.demo;

import dev.rackcall.rdma.RdmaSettings;
import dev.rackcall.rdma.queue.QueueSettings;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.samples.documents.DocumentStore;
import dev.rackcall.samples.documents.DocumentStoreService;
import dev.rackcall.samples.documents.DocumentWriter;
import dev.rackcall.samples.documents.Found;
import dev.rackcall.samples.documents.JsonDocument;
import dev.rackcall.samples.documents.NoBench;
import dev.rackcall.samples.documents.Store;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.pool.Pool;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * What runs in each process of the rack demo: a host that serves the store, or searches it by its name until its input ends. It knows no address: which
 * way its calls take is the channel's affair.
 */
final class RackHost {
    /** With a machine that does more than it can. */
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final long STORE_BYTES = 1L << 30;
    private static final long SAMPLE_NANOS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long PAUSE_MILLIS = 5;
    private static final int BURST = 50;
    private static final int BATCH = 100;

    private final RackMessages.Setup setup;
    private final PrintStream answers;
    /** For the moment in which one way is gone and the next not there yet. */
    private Optional<Route> lastUsed = Optional.empty();

    private final CountDownLatch end = new CountDownLatch(1);
    private volatile boolean leavesMemory;

    private RackHost(RackMessages.Setup setup, PrintStream answers) {
        this.setup = setup;
        this.answers = answers;
    }

    /** The one argument is a {@link RackMessages.Setup}. */
    public static void main(String[] args) {
        PrintStream answers = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        System.setOut(System.err); // what libraries print must not mix with the answers
        RackHost host = new RackHost(Messages.MAPPER.readValue(args[0], RackMessages.Setup.class), answers);
        Thread.ofPlatform().daemon().name("end").start(host::awaitEnd);
        int exitCode = 0;
        try {
            host.run();
        } catch (RpcException e) {
            answers.println(RackMessages.FAILED + e.getMessage().replace('\n', ' '));
            exitCode = 1;
        } catch (Exception | Error e) { // whatever it was, the conductor has to hear of it
            answers.println(RackMessages.FAILED + e.toString().replace('\n', ' '));
            exitCode = 1;
        }
        System.exit(exitCode);
    }

    /** The conductor says {@code QUIT} before it closes the input; without that it is dead. */
    private void awaitEnd() {
        try {
            BufferedReader orders = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String order = orders.readLine(); order != null; order = orders.readLine()) {
                if (order.equals(Messages.Order.QUIT.name())) {
                    end.countDown();
                    return;
                }
                leavesMemory = order.equals(RackMessages.LEAVE_MEMORY);
            }
            Workplace.delete(setup.workplace());
        } catch (IOException e) {
            System.err.println(setup.workplace() + " may be left behind: " + e);
        }
        Runtime.getRuntime().halt(1);
    }

    private boolean isEnding() {
        return end.getCount() == 0;
    }

    private void run() throws InterruptedException {
        Optional<HostAgent> agent = HostAgent.open(setup, PATIENCE);
        try {
            if (setup.role() == RackMessages.Role.SERVE) {
                serve(agent.isPresent());
            } else {
                search();
            }
        } finally {
            agent.ifPresent(HostAgent::close);
        }
    }

    /** Nothing is closed if it has none. */
    private Optional<Pool> openPool() {
        return setup.pool().map(device -> Pool.dax(device.path(), device.number()));
    }

    private void serve(boolean overQueues) throws InterruptedException {
        RdmaSettings.greetingTimeout(PATIENCE);
        QueueSettings.greetingTimeout(PATIENCE);
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
            answers.println(RackMessages.READY);
            end.await();
            store.close();
        } finally {
            pool.ifPresent(Pool::close);
        }
    }

    private void search() throws InterruptedException {
        List<JsonDocument> documents = documents();
        QueryPlan queries = new QueryPlan(documents, setup.seed());
        Optional<Pool> pool = openPool();
        boolean fills = setup.role() == RackMessages.Role.FILL_AND_SEARCH;
        try (RpcChannel channel = channel(pool)) {
            DocumentStore store = channel.stub(DocumentStore.class);
            if (fills) {
                fill(channel, store, documents);
            }
            answers.println(RackMessages.READY);
            boolean without = false;
            while (!isEnding()) {
                if (pool.isPresent() && without != leavesMemory) {
                    without = !without;
                    if (without) {
                        channel.leavePool();
                    } else {
                        channel.usePool(pool.get());
                    }
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

    /** Searches for half a second, in bursts so that the machine has time for the others, and tells how it went. */
    private void sample(RpcChannel channel, DocumentStore store, QueryPlan queries) throws InterruptedException {
        Histogram latencies = Latencies.create();
        long failed = 0;
        String problem = "";
        long begin = System.nanoTime();
        while (!isEnding() && System.nanoTime() - begin < SAMPLE_NANOS) {
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
        answers.println(RackMessages.SAMPLE
                + Messages.MAPPER.writeValueAsString(new RackMessages.Sample(
                        setup.host(),
                        used.map(Route::host).orElse("nobody"),
                        used.map(route -> route.kind().toString()).orElse("nothing"),
                        used.filter(route -> route.kind().isMemory()).isPresent(),
                        latencies.getTotalCount(),
                        failed,
                        problem,
                        latencies.getValueAtPercentile(50),
                        latencies.getValueAtPercentile(99),
                        (System.nanoTime() - begin) / 1e9)));
    }

    /** How many documents match, since those themselves stay in the memory of the server's rack. Says what went wrong. */
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
