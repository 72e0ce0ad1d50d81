package dev.rackcall.soak;

import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.TestCertificate;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Starts the processes of a soak, which share a folder in memory. Thread-safe. */
final class Peers {
    private static final String KEPT = "/soak/kept";
    private static final String MORTAL = "/soak/mortal";
    private static final long POOL_BYTES = 256L << 20;
    /** The survivors are the hosts 0 and 1 of a pool; there are 64. */
    private static final int FIRST_MORTAL_HOST = 2;

    private static final int HOSTS = 64;
    /** The others on a pool have noticed a host's end. */
    private static final long NOTICED_NANOS = TimeUnit.SECONDS.toNanos(12);

    /** The heap is resident as a whole from the start, so what grows is beside it. */
    static final List<String> FLAGS = List.of(
            "-Xms64m",
            "-Xmx64m",
            "-XX:+AlwaysPreTouch",
            "-XX:-UseDynamicNumberOfCompilerThreads",
            // Of strangers and the dead, warnings are many.
            "-Dorg.slf4j.simpleLogger.defaultLogLevel=error");

    private final Path root;
    private final List<SoakTransport> transports;
    private final Map<SoakTransport, String> kept = new EnumMap<>(SoakTransport.class);
    private final Map<SoakTransport, String> mortal = new EnumMap<>(SoakTransport.class);
    /** The transports of which a mortal server lives. */
    private final Set<SoakTransport> served = ConcurrentHashMap.newKeySet();

    private final Queue<Integer> freeHosts = new ConcurrentLinkedQueue<>(
            IntStream.range(FIRST_MORTAL_HOST, HOSTS).boxed().toList());
    /** Guarded by itself. */
    private final Deque<DeadHost> deadHosts = new ArrayDeque<>();

    private record DeadHost(int number, long diedNanos) {}

    /** A process that may be killed. */
    record Mortal(SoakTransport transport, boolean serves, int host, ChildJvm process) {}

    Peers(Path root, Set<SoakTransport> transports) throws IOException {
        this.root = root;
        this.transports = List.copyOf(transports);
        Files.createDirectory(root.resolve("tmp"));
        TestCertificate.make(root, "peer");
        try (RandomAccessFile pool =
                new RandomAccessFile(SoakTransport.poolFile(root).toFile(), "rw")) {
            pool.setLength(POOL_BYTES);
        }
        for (SoakTransport transport : transports) {
            Files.createDirectories(transport.runtime(root, true));
            Files.createDirectories(transport.runtime(root, false));
            kept.put(transport, transport.address(0));
            mortal.put(transport, transport.address(1));
        }
    }

    SoakTransport any(Random random) {
        return transports.get(random.nextInt(transports.size()));
    }

    /** The TCP ports of the servers. */
    List<String> ports() {
        return Stream.concat(kept.values().stream(), mortal.values().stream())
                .filter(address -> address.startsWith("soft:"))
                .map(address -> Integer.toString(URI.create(address).getPort()))
                .toList();
    }

    /** A process with this main class. */
    private ChildJvm process(Class<?> main, Path runtime, Object... arguments) {
        return ChildJvm.of(main, arguments)
                .flags(FLAGS)
                .flags("-Djava.io.tmpdir=" + root.resolve("tmp"))
                // A heap for each thread would grow with the threads that happen to meet.
                .environment("MALLOC_ARENA_MAX", "1")
                .directory(runtime)
                .mergingErrors()
                .start();
    }

    Survivor agents() {
        return new Survivor(SoakTransport.QUEUES, "agents", process(SoakAgents.class, root, root));
    }

    Survivor stranger(long seed) {
        List<String> arguments = Stream.concat(Stream.of(root.toString(), Long.toString(seed)), ports().stream())
                .toList();
        return new Survivor(SoakTransport.MEMORY, "stranger", process(SoakStranger.class, root, arguments.toArray()));
    }

    Survivor server(SoakTransport transport) {
        return new Survivor(
                transport,
                "server",
                process(
                        SoakServer.class,
                        transport.runtime(root, true),
                        transport,
                        root,
                        KEPT,
                        kept.get(transport),
                        0));
    }

    Survivor client(SoakTransport transport, long seed) {
        return new Survivor(
                transport,
                "client",
                process(
                        SoakClient.class,
                        transport.runtime(root, false),
                        transport,
                        root,
                        seed,
                        1,
                        KEPT,
                        kept.get(transport),
                        MORTAL,
                        mortal.get(transport)));
    }

    /** Starts a server that may be killed, or a client if {@code serves} is false or such a server lives already. */
    Mortal start(SoakTransport transport, boolean serves, long seed) {
        boolean server = serves && served.add(transport);
        int host = transport.isPool() ? freeHosts.remove() : Math.floorMod(seed, HOSTS);
        ChildJvm process = server
                ? process(
                        SoakServer.class,
                        transport.runtime(root, true),
                        transport,
                        root,
                        MORTAL,
                        mortal.get(transport),
                        host)
                : process(
                        SoakClient.class,
                        transport.runtime(root, false),
                        transport,
                        root,
                        seed,
                        host,
                        KEPT,
                        kept.get(transport));
        return new Mortal(transport, server, host, process);
    }

    /** After the end of its process. */
    void ended(Mortal dead) {
        if (dead.transport.isPool()) {
            synchronized (deadHosts) {
                deadHosts.add(new DeadHost(dead.host, System.nanoTime()));
            }
        }
        if (dead.serves) {
            served.remove(dead.transport);
        }
    }

    /** Gives the memory of dead hosts back to the pool, as its operator would. */
    void reclaim(Survivor poolServer, boolean all) throws IOException, InterruptedException {
        synchronized (deadHosts) {
            while (!deadHosts.isEmpty()) {
                long left = deadHosts.getFirst().diedNanos + NOTICED_NANOS - System.nanoTime();
                if (left > 0 && !all) {
                    return;
                }
                for (; left > 0; left = deadHosts.getFirst().diedNanos + NOTICED_NANOS - System.nanoTime()) {
                    LockSupport.parkNanos(left);
                }
                int number = deadHosts.remove().number;
                poolServer.ask("reclaim " + number);
                freeHosts.add(number);
            }
        }
    }

    Path root() {
        return root;
    }
}
