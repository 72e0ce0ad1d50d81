package dev.rackcall.samples.demo;

import dev.rackcall.samples.demo.Child.Order;
import dev.rackcall.samples.demo.QueryPlan.Query;
import dev.rackcall.samples.documents.Digest;
import dev.rackcall.samples.documents.DocumentSource;
import dev.rackcall.samples.documents.JsonDocument;
import dev.rackcall.samples.documents.JsonLines;
import dev.rackcall.samples.documents.JsonLines.BadLine;
import dev.rackcall.samples.documents.NoBench;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.function.LongConsumer;

/** A client process's share of the documents and searches, over any transport. Used by one thread. */
final class ClientWork implements AutoCloseable {
    private static final int BAD_LINES_SHOWN = 5;

    private final DemoPlan plan;
    private final int client;
    private final StoreClient store;
    private final DocumentSource source;
    private final LongConsumer progress;
    private final List<JsonDocument> prepared = new ArrayList<>();
    private final List<BadLine> bad = new ArrayList<>();
    private long badLines;
    /** The numbers of all documents that this client has made. */
    private final List<Long> numbers = new ArrayList<>();

    private Optional<QueryPlan> queries = Optional.empty();

    /**
     * Documents are ready to be handed over.
     *
     * @param documents how many
     * @param digest the sum of their digests
     * @param more whether more documents may follow
     * @param bad the first skipped lines
     * @param badLines how many lines were skipped
     */
    record Prepared(long documents, long digest, boolean more, List<BadLine> bad, long badLines) {}

    /**
     * The measured work of a client.
     *
     * @param startNanos by the clock that all processes of a machine share
     * @param endNanos by the same clock
     * @param items documents that were handed over, or read after they were found
     * @param latencies of the calls
     * @param traffic the bytes that crossed
     * @param totals of searches: how many documents match each
     * @param digests of what each get or search has read
     */
    record Done(
            long startNanos,
            long endNanos,
            long items,
            Latencies latencies,
            StoreClient.Traffic traffic,
            List<Long> totals,
            List<Long> digests) {}

    /** @param progress receives the number of documents or searches that the current order has completed */
    ClientWork(DemoProcess.Setup setup, LongConsumer progress) throws IOException {
        this.plan = setup.plan();
        this.client = setup.client().orElseThrow();
        this.progress = progress;
        DemoPlan.Input input = plan.input();
        this.source = input.file().isPresent()
                ? JsonLines.open(input.file().get(), client, plan.clients(), this::note)
                : NoBench.of(input.seed(), input.count()).share(client, plan.clients());
        this.store = switch (setup.transport()) {
            case POINTER -> new PointerClient(setup.runtimeDirectory(), plan);
            case SERIALISED -> new SocketClient(setup.directory());
            case GRPC -> new GrpcClient(setup.directory());
        };
    }

    private void note(BadLine line) {
        badLines++;
        if (bad.size() < BAD_LINES_SHOWN) {
            bad.add(line);
        }
    }

    Object obey(Order order) throws IOException {
        return switch (order) {
            case PREPARE -> prepare();
            case WARM_UP -> warmUp();
            case BUILD -> build();
            case GET -> get(plan.searchesOf(client));
            case SEARCH -> search(plan.searchesOf(client));
            default -> throw new IllegalArgumentException("a client does not know the order " + order);
        };
    }

    private Prepared prepare() throws IOException {
        prepared.clear();
        long digest = 0;
        boolean more = true;
        while (more && prepared.size() < DemoPlan.WINDOW) {
            Optional<JsonDocument> next = source.next();
            more = next.isPresent();
            if (more) {
                prepared.add(next.get());
                numbers.add(next.get().number());
                digest += Digest.of(next.get());
                progress.accept(prepared.size());
            }
        }
        if (queries.isEmpty()) {
            queries = Optional.of(queryPlan());
        }
        return new Prepared(prepared.size(), digest, more, bad, badLines);
    }

    private QueryPlan queryPlan() {
        return new QueryPlan(prepared, plan.input().seed() + client);
    }

    private boolean warmUp() throws IOException {
        int most = Math.min(DemoPlan.WARM_UP, DemoPlan.MOST_ROUNDS * prepared.size());
        for (int left = most; left > 0; left -= prepared.size()) {
            put(prepared.subList(0, Math.min(prepared.size(), left)), new Latencies());
        }
        QueryPlan own = queryPlan();
        int searches = Math.min(plan.searchesOf(client), DemoPlan.WARM_UP_SEARCHES);
        for (int i = 0; i < searches; i++) {
            Optional<Query> query = own.next();
            if (query.isPresent()) {
                store.search(query.get());
            }
            if (!prepared.isEmpty()) {
                store.get(prepared.get(i % prepared.size()).number());
            }
            progress.accept(i);
        }
        store.takeTraffic();
        return true;
    }

    private Done build() throws IOException {
        Latencies latencies = new Latencies();
        long start = System.nanoTime();
        put(prepared, latencies);
        long end = System.nanoTime();
        return new Done(start, end, prepared.size(), latencies, store.takeTraffic(), List.of(), List.of());
    }

    private void put(List<JsonDocument> documents, Latencies latencies) throws IOException {
        for (int from = 0; from < documents.size(); from += plan.batch()) {
            List<JsonDocument> next = documents.subList(from, Math.min(documents.size(), from + plan.batch()));
            long start = System.nanoTime();
            store.put(next);
            latencies.record(System.nanoTime() - start);
            progress.accept(from + next.size());
        }
    }

    private Done get(int gets) throws IOException {
        SplittableRandom random = new SplittableRandom(plan.input().seed() + client);
        long[] drawn = random.ints(numbers.isEmpty() ? 0 : gets, 0, Math.max(1, numbers.size()))
                .mapToLong(numbers::get)
                .toArray();
        List<Long> digests = new ArrayList<>(drawn.length);
        Latencies latencies = new Latencies();
        long start = System.nanoTime();
        for (long number : drawn) {
            long before = System.nanoTime();
            digests.add(store.get(number));
            latencies.record(System.nanoTime() - before);
            progress.accept(digests.size());
        }
        long end = System.nanoTime();
        return new Done(start, end, drawn.length, latencies, store.takeTraffic(), List.of(), digests);
    }

    private Done search(int searches) throws IOException {
        List<Query> planned = new ArrayList<>();
        for (int i = 0; i < searches; i++) {
            queries.flatMap(QueryPlan::next).ifPresent(planned::add);
        }
        List<StoreClient.Outcome> outcomes = new ArrayList<>(planned.size());
        Latencies latencies = new Latencies();
        long start = System.nanoTime();
        for (Query query : planned) {
            long before = System.nanoTime();
            outcomes.add(store.search(query));
            latencies.record(System.nanoTime() - before);
            progress.accept(outcomes.size());
        }
        long end = System.nanoTime();
        return new Done(
                start,
                end,
                outcomes.stream().mapToLong(StoreClient.Outcome::read).sum(),
                latencies,
                store.takeTraffic(),
                outcomes.stream().map(StoreClient.Outcome::total).toList(),
                outcomes.stream().map(StoreClient.Outcome::digest).toList());
    }

    @Override
    public void close() throws IOException {
        try (source) {
            store.close();
        }
    }
}
