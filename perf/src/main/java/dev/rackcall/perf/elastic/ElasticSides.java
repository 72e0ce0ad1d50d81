package dev.rackcall.perf.elastic;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.WrongReplyException;
import dev.rackcall.perf.result.BenchTarget;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Many workers start at the same time, and each connects to many servers. Measures from the start until the last worker
 * has read one key, or until all workers have read a key of each server.
 *
 * @param isVirtual by virtual queues instead of fresh queue pairs
 * @param readsAll whether a worker reads a key of each server instead of one key
 * @param workers how many; 0 stands for the run's option
 * @param servers how many; 0 stands for the run's option
 */
public record ElasticSides(boolean isVirtual, boolean readsAll, int workers, int servers) implements Sides {
    static final String VIRTUAL = "elastic-virtual";
    static final String FRESH = "elastic-fresh";
    /** Options of the run: measured JVMs get them, too. */
    private static final String WORKERS = "rackcall.bench.workers";

    private static final String SERVERS = "rackcall.bench.servers";
    private static final long BOUND_SECONDS = 60;

    public static Subject subject(boolean isVirtual, boolean readsAll) {
        String settings = (isVirtual
                        ? "virtual threads, 50 or --workers: each joins the agent process of its host, shares a page with it, connects virtual queues to 20 servers, or --servers"
                        : "virtual threads, 50 or --workers: one device, open already: each registers a page, makes RC queue pairs to 20 servers, or --servers, told over TCP")
                + (readsAll ? "; a key of each is read" : "; one key is read");
        return Subject.of(
                        (isVirtual ? VIRTUAL : FRESH) + (readsAll ? "" : "-first"),
                        0,
                        settings,
                        new ElasticSides(isVirtual, readsAll, 0, 0))
                .in(BenchTarget.ELASTIC, "", "");
    }

    /** Sets the numbers of this JVM and those that it starts from now on; empty means the usual number. */
    public static void use(Optional<Integer> workers, Optional<Integer> servers) {
        set(WORKERS, workers);
        set(SERVERS, servers);
    }

    private static void set(String property, Optional<Integer> count) {
        count.ifPresentOrElse(
                asked -> System.setProperty(property, Integer.toString(asked)), () -> System.clearProperty(property));
    }

    @Override
    public ServerSide serve(Path directory) throws IOException {
        return new ElasticServer(directory, servers > 0 ? servers : Integer.getInteger(SERVERS, 20));
    }

    @Override
    public ClientSide connect(Path directory) throws IOException {
        return new Workers(
                workers > 0 ? workers : Integer.getInteger(WORKERS, 50), ElasticServer.find(directory), directory);
    }

    private final class Workers implements ClientSide {
        private final int count;
        private final List<ElasticServer.Known> known;
        private final Path directory;
        private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        private final List<ElasticWorker> started = new ArrayList<>();

        Workers(int count, List<ElasticServer.Known> known, Path directory) {
            this.count = count;
            this.known = known;
            this.directory = directory;
            if (!isVirtual) {
                FreshWorker.openDevice();
            }
        }

        @Override
        public void call(long sequence) throws Exception {
            closeWorkers();
            List<Future<Void>> running = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int worker = i;
                running.add(threads.submit(() -> {
                    run(worker);
                    return null;
                }));
            }
            try {
                for (Future<Void> each : running) {
                    each.get(BOUND_SECONDS, TimeUnit.SECONDS);
                }
            } catch (ExecutionException e) {
                throw new IllegalStateException("a worker has failed: " + e.getCause(), e);
            }
        }

        private void run(int number) throws IOException {
            ElasticWorker worker = isVirtual ? new VirtualWorker(directory) : new FreshWorker();
            synchronized (started) {
                started.add(worker);
            }
            List<RaceReader> readers = worker.connect(known);
            int reads = readsAll ? known.size() : 1;
            for (int i = 0; i < reads; i++) {
                // Workers begin with different servers.
                int server = (number + i) % known.size();
                long key = 1L + ((long) number * known.size() + i) % RaceTable.KEYS;
                WrongReplyException.check(
                        "elastic",
                        RaceTable.value(server, key),
                        readers.get(server).get(key));
            }
        }

        private void closeWorkers() {
            synchronized (started) {
                for (ElasticWorker worker : started) {
                    try {
                        worker.close();
                    } catch (Exception e) {
                        throw new IllegalStateException("a worker could not be closed", e);
                    }
                }
                started.clear();
            }
        }

        @Override
        public void close() {
            threads.close();
            closeWorkers();
        }
    }
}
