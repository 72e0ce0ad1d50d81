package dev.rackcall.samples.demo;

import dev.rackcall.samples.demo.DemoMessages.Order;
import dev.rackcall.samples.demo.DemoMessages.Prepared;
import dev.rackcall.samples.demo.DemoMessages.Work;
import dev.rackcall.samples.documents.BadLine;
import dev.rackcall.samples.documents.Store;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.HdrHistogram.Histogram;

/** One transport, from the first document to the last search, and its results. Used by one thread. */
final class Run {
    private final StoreTransport transport;
    private long documents;
    private long sourceDigest;
    private List<BadLine> badLines = List.of();
    private long badLineCount;

    private long buildNanos;
    private final Histogram puts = Latencies.create();
    private StoreClient.Traffic buildTraffic = StoreClient.Traffic.NONE;

    private long searchNanos;
    private final Histogram searches = Latencies.create();
    private StoreClient.Traffic searchTraffic = StoreClient.Traffic.NONE;
    private long read;
    private final List<Long> totals = new ArrayList<>();
    private final List<Long> digests = new ArrayList<>();
    private Store.Summary summary = new Store.Summary(0, 0, 0, 0);

    private Run(StoreTransport transport) {
        this.transport = transport;
    }

    static Run of(DemoPlan plan, StoreTransport transport, Workplace workplace, DemoProgress progress) {
        Run run = new Run(transport);
        try (Stage stage = new Stage(plan, transport, workplace, progress)) {
            run.build(stage, plan);
            run.search(stage, plan);
            run.summary = stage.server(Order.SUMMARY, Store.Summary.class, "checking what the server has");
        }
        run.check();
        return run;
    }

    private void build(Stage stage, DemoPlan plan) {
        prepareAndBuild(stage, plan);
        if (documents == 0) {
            throw new DemoException(plan.input().file().map(Object::toString).orElse("the input") + " holds no document"
                    + badLines.stream()
                            .findFirst()
                            .map(bad -> "; line " + bad.number() + ": " + bad.reason())
                            .orElse(""));
        }
    }

    private void prepareAndBuild(Stage stage, DemoPlan plan) {
        long expected = plan.input().file().isEmpty() ? plan.input().count() : 0;
        boolean first = true;
        boolean more = true;
        while (more) {
            List<Prepared> prepared =
                    stage.clients(Order.PREPARE, Prepared.class, "preparing documents", documents, expected);
            more = prepared.stream().anyMatch(Prepared::more);
            sourceDigest += prepared.stream().mapToLong(Prepared::digest).sum();
            note(prepared);
            if (first) {
                stage.warmUp();
                first = false;
            }
            List<Work> work = stage.clients(Order.BUILD, Work.class, "building", documents, expected);
            buildNanos += elapsed(work);
            for (Work each : work) {
                documents += each.items();
                puts.add(Latencies.decode(each.latencies()));
                buildTraffic = buildTraffic.plus(each.traffic());
            }
        }
    }

    private void note(List<Prepared> prepared) {
        badLineCount = prepared.stream().mapToLong(Prepared::badLines).sum();
        badLines = prepared.stream()
                .flatMap(each -> each.bad().stream())
                .sorted(Comparator.comparingLong(BadLine::number))
                .toList();
    }

    private void search(Stage stage, DemoPlan plan) {
        List<Work> work = stage.clients(Order.SEARCH, Work.class, "searching", 0, plan.searches());
        searchNanos = elapsed(work);
        for (Work each : work) {
            read += each.items();
            searches.add(Latencies.decode(each.latencies()));
            searchTraffic = searchTraffic.plus(each.traffic());
            totals.addAll(each.totals());
            digests.addAll(each.digests());
        }
    }

    /** From the first client's start to the last client's end. */
    private static long elapsed(List<Work> work) {
        return work.stream().mapToLong(Work::endNanos).max().orElse(0)
                - work.stream().mapToLong(Work::startNanos).min().orElse(0);
    }

    /** Checks that the store has exactly the documents of the clients. */
    private void check() {
        if (summary.documents() != documents || summary.digest() != sourceDigest) {
            throw new DemoException(transport.title() + ": the store has " + summary.documents()
                    + " documents (digest " + Long.toHexString(summary.digest()) + "), but it was given " + documents
                    + " (digest " + Long.toHexString(sourceDigest) + "); please report this");
        }
    }

    /**
     * Checks that both transports gave the same: documents, and for every search the same count and the same documents.
     */
    void checkSame(Run other) {
        if (summary.digest() != other.summary.digest()) {
            throw new DemoException("the two stores hold different documents; please report this");
        }
        for (int i = 0; i < Math.max(totals.size(), other.totals.size()); i++) {
            if (totals.size() != other.totals.size()
                    || !totals.get(i).equals(other.totals.get(i))
                    || !digests.get(i).equals(other.digests.get(i))) {
                throw new DemoException("search " + i + " found different documents " + transport.title() + " and "
                        + other.transport.title() + "; please report this");
            }
        }
    }

    List<BadLine> badLines() {
        return badLines;
    }

    long badLineCount() {
        return badLineCount;
    }

    Report.Side side() {
        return new Report.Side(
                transport,
                documents,
                buildNanos,
                Report.Percentiles.of(puts),
                summary.indexNanos(),
                buildTraffic.copiedBytes(),
                buildTraffic.pointedBytes(),
                summary.heldBytes(),
                totals.size(),
                searchNanos,
                Report.Percentiles.of(searches),
                searchTraffic.copiedBytes(),
                totals.stream().mapToLong(Long::longValue).sum(),
                read);
    }
}
