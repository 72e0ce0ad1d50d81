package dev.rackcall.cli.view;

import dev.rackcall.cli.top.TopOrder;
import dev.rackcall.cli.top.TopReport;
import dev.rackcall.cli.top.TopReport.ConnectionRow;
import dev.rackcall.cli.top.TopReport.ProcessRow;
import dev.rackcall.cli.top.TopWatch;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import java.util.stream.Collectors;

/**
 * Watches a host's connections while a viewer looks: one thread for all viewers. Without viewers it reads nothing and
 * keeps no memory of other processes open. Any thread may ask it.
 */
final class ViewSampler implements AutoCloseable {
    /** How long it goes on without a viewer. */
    static final Duration PATIENCE = Duration.ofSeconds(10);

    private static final long ANSWER_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long RETRY_NANOS = TimeUnit.SECONDS.toNanos(1);
    private static final Duration END = Duration.ofSeconds(10);

    /** What it watches by. */
    interface Watch extends AutoCloseable {
        /** Watches for an interval; returns false if {@code isLeft} ended it. */
        boolean watch(BooleanSupplier isLeft) throws IOException, InterruptedException;

        TopReport report();

        boolean isAlive(int pid);

        /** Whether a connection that was in an earlier report may be left out of this one. */
        default boolean isLeftOut(String id) {
            return false;
        }

        /** Connections that are not in the report because there are too many. */
        default int leftOut() {
            return 0;
        }

        @Override
        void close() throws IOException;
    }

    /** Begins to watch. */
    interface WatchStart {
        Watch start() throws IOException;
    }

    /** Says why a host cannot be watched; its message is all that a viewer is told. */
    static final class UnseenHostException extends IOException {
        private static final long serialVersionUID = 1;

        UnseenHostException(String why) {
            super(why);
        }
    }

    private final WatchStart watches;
    private final long patienceNanos;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Thread thread;
    /** Guarded by the lock, as all below are. */
    private final ViewHistory history;

    private ViewState state;
    /** Viewers that wait for the next moment. */
    private int waiting;
    /** When a viewer last got its answer. */
    private Optional<Long> answeredNanos = Optional.empty();
    /** The last moment before a pause without viewers. */
    private long stale;

    private boolean closed;

    private ViewSampler(ViewHistory history, WatchStart watches, Duration patience) {
        this.watches = watches;
        this.patienceNanos = patience.toNanos();
        this.history = history;
        this.state = history.failed(0, 0, "not watched yet");
        this.thread = Thread.ofPlatform().daemon().name("rackcall-view").unstarted(this::run);
    }

    /** Starts its thread, which waits for a viewer. */
    static ViewSampler start(ViewHistory history, WatchStart watches, Duration patience) {
        ViewSampler sampler = new ViewSampler(history, watches, patience);
        sampler.thread.start();
        return sampler;
    }

    /** Watches this host. */
    static ViewSampler ofThisHost(ViewHistory history) {
        return of(TopWatch::ofThisHost, history);
    }

    /** Watches a host. */
    static ViewSampler of(Supplier<TopWatch> host, ViewHistory history) {
        return start(history, () -> new HostWatch(host.get()), PATIENCE);
    }

    /** The first moment after that one, once it has come; the last one if none comes within 5 s. */
    ViewState awaitAfter(long sequence) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            // What was seen before a pause is not news.
            long last = hasViewer() ? sequence : Math.max(sequence, state.sequence());
            waiting++;
            changed.signalAll();
            long left = ANSWER_NANOS;
            while (state.sequence() <= last && left > 0 && !closed) {
                left = changed.awaitNanos(left);
            }
            return state;
        } finally {
            waiting--;
            answeredNanos = Optional.of(System.nanoTime());
            lock.unlock();
        }
    }

    /** The last moment, without waiting for the next one; a viewer asks again soon. */
    ViewState latest() {
        lock.lock();
        try {
            look();
            return state;
        } finally {
            lock.unlock();
        }
    }

    /** Whether it is from before a pause without viewers, and nothing has been seen since. */
    boolean isOld(ViewState seen) {
        lock.lock();
        try {
            return seen.sequence() > 0 && seen.sequence() <= stale;
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #latest}; empty if it is not after that one, or from before a pause. */
    Optional<ViewState> latestAfter(long sequence) {
        lock.lock();
        try {
            look();
            boolean isNews = state.sequence() > Math.max(sequence, stale);
            return isNews ? Optional.of(state) : Optional.empty();
        } finally {
            lock.unlock();
        }
    }

    private void look() {
        if (!hasViewer()) {
            stale = state.sequence();
        }
        answeredNanos = Optional.of(System.nanoTime());
        changed.signalAll();
    }

    /** The last minutes. */
    ViewSeries series() {
        lock.lock();
        try {
            return history.series();
        } finally {
            lock.unlock();
        }
    }

    /** The connection with that id, if it is shown and its name is a channel's. */
    Optional<ViewState.ConnectionEdge> explainable(String id) {
        lock.lock();
        try {
            return state.connections().stream()
                    .filter(edge -> edge.row().id().equals(id) && edge.explain().isPresent())
                    .findFirst();
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        try {
            while (awaitViewer()) {
                try (Watch watch = watches.start()) {
                    while (watch.watch(this::isLeft)) {
                        add(watch);
                    }
                } catch (IOException | RuntimeException e) {
                    fail(e);
                }
            }
        } catch (InterruptedException e) {
            // Closed.
        }
    }

    private void add(Watch watch) {
        TopReport report = watch.report();
        lock.lock();
        try {
            history.forget(watch::isLeftOut);
            state = history.add(
                            state.sequence() + 1, System.currentTimeMillis(), System.nanoTime(), report, watch::isAlive)
                    .leavingOut(watch.leftOut());
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Tells viewers, and tries again after a pause. */
    private void fail(Exception problem) throws InterruptedException {
        String why = problem instanceof UnseenHostException ? problem.getMessage() : problem.toString();
        lock.lock();
        try {
            state = history.failed(state.sequence() + 1, System.currentTimeMillis(), why);
            changed.signalAll();
            for (long left = RETRY_NANOS; left > 0 && !closed; ) {
                left = changed.awaitNanos(left);
            }
        } finally {
            lock.unlock();
        }
    }

    /** Returns false when it is closed. */
    private boolean awaitViewer() throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (!closed && !hasViewer()) {
                changed.await();
            }
            return !closed;
        } finally {
            lock.unlock();
        }
    }

    private boolean isLeft() {
        lock.lock();
        try {
            return closed || !hasViewer();
        } finally {
            lock.unlock();
        }
    }

    private boolean hasViewer() {
        return waiting > 0 || (answeredNanos.isPresent() && System.nanoTime() - answeredNanos.get() < patienceNanos);
    }

    /** Ends its thread; viewers that wait get the last moment. */
    @Override
    public void close() throws InterruptedException {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
        thread.interrupt();
        thread.join(END);
    }

    /** Leaves out the connections by which views ask agents: what is looked at would change by being looked at. */
    static TopReport withoutViews(TopReport report) {
        Map<Boolean, List<ConnectionRow>> parts =
                report.connections().stream().collect(Collectors.partitioningBy(ViewSampler::isOfView));
        List<ProcessRow> processes = report.processes().stream()
                .flatMap(process -> without(parts.get(true), process).stream())
                .toList();
        return new TopReport(processes, parts.get(false), report.notReadable());
    }

    private static boolean isOfView(ConnectionRow row) {
        return row.channel().equals(HostView.CHANNEL) && row.invalid().isEmpty();
    }

    /** A process without its part in these connections; empty if it has no other. */
    private static Optional<ProcessRow> without(List<ConnectionRow> rows, ProcessRow process) {
        Optional<Integer> pid = Optional.of(process.pid());
        List<ConnectionRow> served =
                rows.stream().filter(row -> row.serverPid().equals(pid)).toList();
        List<ConnectionRow> called =
                rows.stream().filter(row -> row.clientPid().equals(pid)).toList();
        int serves = process.serves() - served.size();
        int calls = process.calls() - called.size();
        if (serves + calls == 0 && served.size() + called.size() > 0) {
            return Optional.empty();
        }
        return Optional.of(new ProcessRow(
                process.pid(),
                process.name(),
                serves,
                calls,
                Math.max(0, process.servedPerSecond() - rate(served)),
                Math.max(0, process.sentPerSecond() - rate(called)),
                process.memoryBytes()));
    }

    private static double rate(List<ConnectionRow> rows) {
        return rows.stream().mapToDouble(ConnectionRow::requestsPerSecond).sum();
    }

    /** This host's connections. */
    private record HostWatch(TopWatch top) implements Watch {
        @Override
        public boolean watch(BooleanSupplier isLeft) throws IOException, InterruptedException {
            return top.watch(isLeft);
        }

        @Override
        public TopReport report() {
            return withoutViews(top.report("", TopOrder.RATE));
        }

        @Override
        public boolean isAlive(int pid) {
            return top.isAlive(pid);
        }

        @Override
        public void close() throws IOException {
            top.close();
        }
    }
}
