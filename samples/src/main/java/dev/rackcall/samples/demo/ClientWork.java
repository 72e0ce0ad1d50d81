package dev.rackcall.samples.demo;

import dev.rackcall.samples.demo.DemoMessages.Done;
import dev.rackcall.samples.demo.DemoMessages.Order;
import dev.rackcall.samples.demo.DemoMessages.Prepared;
import dev.rackcall.samples.demo.DemoMessages.Setup;
import dev.rackcall.samples.demo.DemoMessages.Work;
import dev.rackcall.samples.documents.BadLine;
import dev.rackcall.samples.documents.Digest;
import dev.rackcall.samples.documents.JsonDocument;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.LongConsumer;
import org.HdrHistogram.Histogram;

/** A client process's share of the documents and searches, over either transport. Used by one thread. */
final class ClientWork implements AutoCloseable {
    private static final int BAD_LINES_SHOWN = 5;

    private final Setup setup;
    private final StoreClient store;
    private final Source source;
    private final LongConsumer progress;
    private final List<JsonDocument> prepared = new ArrayList<>();
    private final List<BadLine> bad = new ArrayList<>();
    private long badLines;
    private Optional<QueryPlan> queries = Optional.empty();

    /** @param progress receives the number of documents or searches that the current order has completed */
    ClientWork(Setup setup, LongConsumer progress) throws IOException {
        this.setup = setup;
        this.progress = progress;
        this.source =
                Source.open(setup.plan().input(), setup.client(), setup.plan().clients(), this::note);
        this.store = switch (setup.transport()) {
            case POINTER -> new PointerClient(setup.directory(), setup.plan());
            case SERIALISED -> new SocketClient(setup.directory());
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
            case SEARCH -> search(setup.plan().searchesOf(setup.client()));
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
        return new QueryPlan(prepared, setup.plan().input().seed() + setup.client());
    }

    private Done warmUp() throws IOException {
        put(prepared.subList(0, Math.min(prepared.size(), DemoPlan.WARM_UP)), Latencies.create());
        QueryPlan own = queryPlan();
        for (int i = 0; i < DemoPlan.WARM_UP_SEARCHES; i++) {
            Optional<Query> query = own.next();
            if (query.isPresent()) {
                store.search(query.get());
            }
            progress.accept(i);
        }
        store.traffic();
        return new Done();
    }

    private Work build() throws IOException {
        Histogram latencies = Latencies.create();
        long start = System.nanoTime();
        put(prepared, latencies);
        long end = System.nanoTime();
        return new Work(
                start, end, prepared.size(), Latencies.encode(latencies), store.traffic(), List.of(), List.of());
    }

    private void put(List<JsonDocument> documents, Histogram latencies) throws IOException {
        int batch = setup.plan().batch();
        for (int from = 0; from < documents.size(); from += batch) {
            List<JsonDocument> next = documents.subList(from, Math.min(documents.size(), from + batch));
            long start = System.nanoTime();
            store.put(next);
            Latencies.record(latencies, System.nanoTime() - start);
            progress.accept(from + next.size());
        }
    }

    private Work search(int searches) throws IOException {
        List<Query> planned = new ArrayList<>();
        for (int i = 0; i < searches; i++) {
            queries.flatMap(QueryPlan::next).ifPresent(planned::add);
        }
        List<StoreClient.Outcome> outcomes = new ArrayList<>(planned.size());
        Histogram latencies = Latencies.create();
        long start = System.nanoTime();
        for (Query query : planned) {
            long before = System.nanoTime();
            outcomes.add(store.search(query));
            Latencies.record(latencies, System.nanoTime() - before);
            progress.accept(outcomes.size());
        }
        long end = System.nanoTime();
        return new Work(
                start,
                end,
                outcomes.stream().mapToLong(StoreClient.Outcome::read).sum(),
                Latencies.encode(latencies),
                store.traffic(),
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
