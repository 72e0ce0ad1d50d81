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
import java.util.stream.Stream;

/**
 * Fifty workers, or as many as were asked for, begin at a time, and each connects to twenty servers: from nothing to the last one's first useful operation, a key read of one of them, or
 * to the last one's last value, when all have read a key of each.
 */
final class ElasticSubject extends Subject {
    private static final String WORKERS = "rackcall.bench.workers";
    private static final String SERVERS = "rackcall.bench.servers";
    static final String VIRTUAL = "elastic-virtual";
    static final String FRESH = "elastic-fresh";

    /** How much each worker does. */
    enum Work {
        /** One key of one server: what bootstrap is. */
        FIRST("-first"),
        /** A key of each server. */
        EACH("");

        private final String suffix;

        Work(String suffix) {
            this.suffix = suffix;
        }
    }

    private static final long BOUND_SECONDS = 60;

    private final boolean isVirtual;
    private final Work work;
    private final IntSupplier workers;
    private final IntSupplier servers;

    ElasticSubject(boolean isVirtual, Work work) {
        this(isVirtual, work, () -> Integer.getInteger(WORKERS, 50), () -> Integer.getInteger(SERVERS, 20));
    }

    ElasticSubject(boolean isVirtual, Work work, int workers, int servers) {
        this(isVirtual, work, () -> workers, () -> servers);
    }

    private ElasticSubject(boolean isVirtual, Work work, IntSupplier workers, IntSupplier servers) {
        super((isVirtual ? VIRTUAL : FRESH) + work.suffix, 0);
        this.isVirtual = isVirtual;
        this.work = work;
        this.workers = workers;
        this.servers = servers;
    }

    /** From now on so many workers and servers, in this JVM and those that it starts; none: as many as always. */
    static void use(OptionalInt workers, OptionalInt servers) {
        set(WORKERS, workers);
        set(SERVERS, servers);
    }

    private static void set(String property, OptionalInt count) {
        count.ifPresentOrElse(
                asked -> System.setProperty(property, Integer.toString(asked)), () -> System.clearProperty(property));
    }

    /** For a JVM that is to have as many. */
    static List<String> flags() {
        return Stream.of(WORKERS, SERVERS)
                .filter(property -> System.getProperty(property) != null)
                .map(property -> "-D" + property + "=" + System.getProperty(property))
                .toList();
    }

    @Override
    Target target() {
        return Target.ELASTIC;
    }

    @Override
    String settings() {
        return (isVirtual
                        ? "virtual threads, 50 or --workers: each joins the agent process of its host, shares a page with it, connects virtual queues to 20 servers, or --servers"
                        : "virtual threads, 50 or --workers: one device, open already: each registers a page, makes RC queue pairs to 20 servers, or --servers, told over TCP")
                + (work == Work.FIRST ? "; one key is read" : "; a key of each is read");
    }

    @Override
    ServerSide serve(Path directory) throws IOException {
        return new ElasticServer(directory, servers.getAsInt());
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
                isVirtual ? Optional.empty() : Optional.of(FreshWorker.OpenDevice.use());
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
            ElasticWorker worker = isVirtual ? new VirtualWorker(directory) : new FreshWorker(device.orElseThrow());
            synchronized (started) {
                started.add(worker);
            }
            List<OneSided> ways = worker.connect(known);
            int reads = work == Work.FIRST ? 1 : known.size();
            for (int i = 0; i < reads; i++) {
                // Not all of them begin with the same server.
                int server = (number + i) % known.size();
                long key = 1L + ((long) number * known.size() + i) % RaceTable.KEYS;
                long value = ways.get(server).get(key);
                if (value != RaceTable.value(server, key)) {
                    throw new WrongReplyException("elastic", RaceTable.value(server, key), value);
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
            device.ifPresent(open -> FreshWorker.OpenDevice.leave());
        }
    }
}
