package dev.rackcall.perf;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;

/**
 * Fifty workers, or as many as were asked for, begin at a time, each connects to twenty servers, and reads a key of each: from nothing to the last one's last value. Each connection is
 * used before the next is made.
 */
final class ElasticSubject extends Subject {
    private static final String WORKERS = "rackcall.bench.workers";
    static final String VIRTUAL = "elastic-virtual";
    static final String FRESH = "elastic-fresh";

    private static final long BOUND_SECONDS = 60;

    private final boolean isVirtual;
    private final IntSupplier workers;
    private final int servers;

    ElasticSubject(boolean isVirtual) {
        this(isVirtual, () -> Integer.getInteger(WORKERS, 50), ElasticServer.SERVERS);
    }

    ElasticSubject(boolean isVirtual, int workers, int servers) {
        this(isVirtual, () -> workers, servers);
    }

    private ElasticSubject(boolean isVirtual, IntSupplier workers, int servers) {
        super(isVirtual ? VIRTUAL : FRESH, 0);
        this.isVirtual = isVirtual;
        this.workers = workers;
        this.servers = servers;
    }

    /** From now on so many workers, in this JVM and those that it starts; none: as many as always. */
    static void useWorkers(OptionalInt count) {
        count.ifPresentOrElse(
                asked -> System.setProperty(WORKERS, Integer.toString(asked)), () -> System.clearProperty(WORKERS));
    }

    /** For a JVM that is to have as many. */
    static List<String> flags() {
        return Optional.ofNullable(System.getProperty(WORKERS)).stream()
                .map(count -> "-D" + WORKERS + "=" + count)
                .toList();
    }

    @Override
    Target target() {
        return Target.ELASTIC;
    }

    @Override
    String settings() {
        return isVirtual
                ? "virtual threads, 50 or --workers: each joins the agent process of its host, shares a page with it, connects virtual queues to 20 servers"
                : "virtual threads, 50 or --workers: one device, open already: each registers a page, makes RC queue pairs to 20 servers, told over TCP";
    }

    @Override
    ServerSide serve(Path directory) throws IOException {
        return new ElasticServer(directory, servers);
    }

    @Override
    ClientSide connect(Path directory) throws IOException {
        return new Workers(workers.getAsInt(), ElasticServer.find(directory), directory);
    }

    private final class Workers implements ClientSide {
        private final int count;
        private final List<ElasticServer.Known> known;
        private final Path directory;
        private final Optional<FreshWorker.OpenDevice> device =
                isVirtual ? Optional.empty() : Optional.of(new FreshWorker.OpenDevice());
        private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
        private final List<ElasticWorker> started = new ArrayList<>();

        Workers(int count, List<ElasticServer.Known> known, Path directory) {
            this.count = count;
            this.known = known;
            this.directory = directory;
        }

        @Override
        public void call(long sequence) throws Exception {
            closeWorkers();
            List<Future<Void>> running = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int worker = i;
                running.add(threads.submit(() -> {
                    work(worker);
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

        private void work(int number) throws IOException {
            ElasticWorker worker = isVirtual ? new VirtualWorker(directory) : new FreshWorker(device.orElseThrow());
            synchronized (started) {
                started.add(worker);
            }
            for (int i = 0; i < known.size(); i++) {
                long key = 1L + (number * ElasticServer.SERVERS + i) % RaceTable.KEYS;
                long value = worker.connect(known.get(i)).get(key);
                if (value != RaceTable.value(i, key)) {
                    throw new WrongReplyException("elastic", RaceTable.value(i, key), value);
                }
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
            device.ifPresent(FreshWorker.OpenDevice::close);
        }
    }
}
