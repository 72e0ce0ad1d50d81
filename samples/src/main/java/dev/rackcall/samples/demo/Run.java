package dev.rackcall.samples.demo;

import dev.rackcall.samples.demo.Child.Order;
import dev.rackcall.samples.demo.ClientWork.Done;
import dev.rackcall.samples.demo.ClientWork.Prepared;
import dev.rackcall.samples.documents.JsonLines.BadLine;
import dev.rackcall.samples.documents.Store;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/** One transport: a server and its clients, from the first document to the last search, and the results. Used by one thread. */
final class Run implements AutoCloseable {
    private final DemoPlan plan;
    private final StoreTransport transport;
    private final Workplace workplace;
    private final DemoProgress progress;
    private final ChildProcess server;
    private final List<ChildProcess> clients = new ArrayList<>();

    private long sourceDigest;
    private List<BadLine> badLines = List.of();
    private long badLineCount;
    private final Phase build = new Phase();
    private final Phase get = new Phase();
    private final Phase search = new Phase();
    private Store.Summary summary = new Store.Summary(0, 0, 0, 0);

    /** The sums over all clients. */
    private static final class Phase {
        private final Latencies latencies = new Latencies();
        private final List<Long> totals = new ArrayList<>();
        private final List<Long> digests = new ArrayList<>();
        private long nanos;
        private long items;
        private long copiedBytes;
        private long pointedBytes;

        void add(List<Done> work) {
            // From the first client's start to the last client's end.
            nanos += work.stream().mapToLong(Done::endNanos).max().orElse(0)
                    - work.stream().mapToLong(Done::startNanos).min().orElse(0);
            for (Done each : work) {
                items += each.items();
                latencies.add(each.latencies());
                copiedBytes += each.traffic().copiedBytes();
                pointedBytes += each.traffic().pointedBytes();
                totals.addAll(each.totals());
                digests.addAll(each.digests());
            }
        }
    }

    private Run(DemoPlan plan, StoreTransport transport, Workplace workplace, DemoProgress progress) {
        this.plan = plan;
        this.transport = transport;
        this.workplace = workplace;
        this.progress = progress;
        this.server = process("server", Optional.empty());
        server.awaitDone(() -> report("starting processes", 0, 0));
    }

    private ChildProcess process(String name, Optional<Integer> client) {
        return new ChildProcess(
                name + " (" + transport.title() + ")",
                DemoProcess.class,
                transport.flags(),
                new DemoProcess.Setup(client, transport, workplace.directory(), plan),
                workplace);
    }

    static Run of(DemoPlan plan, StoreTransport transport, Workplace workplace, DemoProgress progress) {
        Run run = new Run(plan, transport, workplace, progress);
        try (run) {
            run.startClients();
            run.build();
            run.get.add(run.clients(Order.GET, Done.class, "getting documents", 0, plan.searches()));
            run.search.add(run.clients(Order.SEARCH, Done.class, "searching", 0, plan.searches()));
            run.summary = run.server(Order.SUMMARY, Store.Summary.class, "checking what the server has");
        }
        run.check();
        return run;
    }

    private void startClients() {
        for (int client = 0; client < plan.clients(); client++) {
            clients.add(process("client " + (client + 1), Optional.of(client)));
        }
        clients.forEach(client -> client.awaitDone(() -> report("starting processes", 0, 0)));
    }

    private void build() {
        long expected = plan.input().file().isEmpty() ? plan.input().count() : 0;
        boolean first = true;
        boolean more = true;
        while (more) {
            List<Prepared> prepared =
                    clients(Order.PREPARE, Prepared.class, "preparing documents", build.items, expected);
            more = prepared.stream().anyMatch(Prepared::more);
            note(prepared);
            if (first) { // the code of both sides should be compiled before anything is measured
                clients(Order.WARM_UP, Boolean.class, "warming up", 0, 0);
                server(Order.CLEAR, Boolean.class, "warming up");
                first = false;
            }
            build.add(clients(Order.BUILD, Done.class, "building", build.items, expected));
        }
        if (build.items == 0) {
            throw new DemoException(plan.input().file().map(Object::toString).orElse("the input") + " holds no document"
                    + badLines.stream()
                            .findFirst()
                            .map(bad -> "; line " + bad.number() + ": " + bad.reason())
                            .orElse(""));
        }
    }

    private void note(List<Prepared> prepared) {
        sourceDigest += prepared.stream().mapToLong(Prepared::digest).sum();
        badLineCount = prepared.stream().mapToLong(Prepared::badLines).sum();
        badLines = prepared.stream()
                .flatMap(each -> each.bad().stream())
                .sorted(Comparator.comparingLong(BadLine::number))
                .toList();
    }

    /** All clients carry out the order at the same time; returns their answers. {@code before} and {@code total} are for the progress. */
    private <T> List<T> clients(Order order, Class<T> type, String what, long before, long total) {
        clients.forEach(client -> client.order(order));
        List<T> answers = new ArrayList<>();
        for (ChildProcess client : clients) {
            answers.add(client.await(type, () -> {
                long done = clients.stream().mapToLong(ChildProcess::progress).sum();
                report(what, before + done, total);
            }));
        }
        return answers;
    }

    private <T> T server(Order order, Class<T> type, String what) {
        server.order(order);
        return server.await(type, () -> report(what, 0, 0));
    }

    private void report(String what, long done, long total) {
        progress.report(transport.title() + ": " + what, done, total);
    }

    @Override
    public void close() {
        clients.forEach(client -> client.order(Order.QUIT));
        clients.forEach(ChildProcess::close);
        server.close();
    }

    /** Checks that the store has exactly the documents of the clients. */
    private void check() {
        if (summary.documents() != build.items || summary.digest() != sourceDigest) {
            throw new DemoException(transport.title() + ": the store has " + summary.documents()
                    + " documents (digest " + Long.toHexString(summary.digest()) + "), but it was given " + build.items
                    + " (digest " + Long.toHexString(sourceDigest) + "); please report this");
        }
    }

    /**
     * Checks that another transport gave the same results: the same documents in all and for every number, and the same count and documents
     * for every search.
     */
    void checkSame(Run other) {
        if (summary.digest() != other.summary.digest()) {
            throw new DemoException("the stores hold different documents " + transport.title() + " and "
                    + other.transport.title() + "; please report this");
        }
        if (!get.digests.equals(other.get.digests)) {
            throw new DemoException("the same numbers gave different documents " + transport.title() + " and "
                    + other.transport.title() + "; please report this");
        }
        if (!search.totals.equals(other.search.totals) || !search.digests.equals(other.search.digests)) {
            throw new DemoException("the searches found different documents " + transport.title() + " and "
                    + other.transport.title() + "; please report this");
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
                build.items,
                build.nanos,
                Report.Percentiles.of(build.latencies),
                summary.indexNanos(),
                build.copiedBytes,
                build.pointedBytes,
                summary.heldBytes(),
                get.items,
                get.nanos,
                Report.Percentiles.of(get.latencies),
                get.copiedBytes,
                search.totals.size(),
                search.nanos,
                Report.Percentiles.of(search.latencies),
                search.copiedBytes,
                search.totals.stream().mapToLong(Long::longValue).sum(),
                search.items);
    }
}
