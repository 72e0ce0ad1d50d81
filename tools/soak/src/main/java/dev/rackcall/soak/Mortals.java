package dev.rackcall.soak;

import dev.rackcall.testkit.ChildJvm;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** Short-lived servers and clients, several at a time: each is killed, stopped and continued, or leaves politely. */
final class Mortals {
    private static final int AT_ONCE = 2;
    private static final long LONGEST_LIFE_NANOS = TimeUnit.SECONDS.toNanos(3);
    /** In a pool, a process that is silent for 5 s counts as gone. */
    private static final long LONGEST_STOP_NANOS = TimeUnit.SECONDS.toNanos(2);

    private static final long LONGEST_START_NANOS = TimeUnit.MILLISECONDS.toNanos(500);

    /** Something to do. */
    interface Step {
        void run() throws Exception;
    }

    private final Peers peers;
    private final Random seeds;
    private final Consumer<Throwable> failed;
    private final Map<String, AtomicLong> counts = new ConcurrentHashMap<>();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean ends;

    Mortals(Peers peers, long seed, Consumer<Throwable> failed) {
        this.peers = peers;
        this.seeds = new Random(seed);
        this.failed = failed;
    }

    /** Begins; a failure ends the thread that met it. */
    void start() {
        ends = false;
        for (int i = 0; i < AT_ONCE; i++) {
            Random random = new Random(seeds.nextLong());
            threads.add(Thread.ofPlatform().daemon().name("mortals-" + i).start(() -> {
                try {
                    while (!ends) {
                        live(random);
                    }
                } catch (Throwable t) {
                    failed.accept(t);
                }
            }));
        }
    }

    /** Waits until those that live have ended, and starts no others. */
    void stop() throws InterruptedException {
        ends = true;
        for (Thread thread : threads) {
            thread.join();
        }
        threads.clear();
    }

    long count(SoakTransport transport, String what) {
        AtomicLong count = counts.get(transport + what);
        return count == null ? 0 : count.get();
    }

    private void add(SoakTransport transport, String what, long more) {
        counts.computeIfAbsent(transport + what, _ -> new AtomicLong()).addAndGet(more);
    }

    private void live(Random random) throws Exception {
        SoakTransport transport = peers.any(random);
        boolean serves = random.nextInt(3) == 0;
        Peers.Mortal mortal = peers.start(transport, serves, random.nextLong());
        try (ChildJvm process = mortal.process()) {
            if (random.nextInt(4) == 0) {
                park(random, LONGEST_START_NANOS);
                kill(transport, process);
                return;
            }
            process.awaitLine("> ready");
            park(random, LONGEST_LIFE_NANOS);
            if (random.nextInt(3) == 0) {
                process.pause();
                add(transport, "stops", 1);
                park(random, LONGEST_STOP_NANOS);
                if (random.nextInt(4) == 0) {
                    kill(transport, process);
                    return;
                }
                process.resume();
                park(random, LONGEST_LIFE_NANOS);
            }
            if (random.nextBoolean()) {
                kill(transport, process);
            } else {
                endPolitely(transport, process);
            }
        } finally {
            peers.ended(mortal);
        }
    }

    private void endPolitely(SoakTransport transport, ChildJvm process) throws Exception {
        int exit = process.end();
        if (exit != 0) {
            throw new AssertionError(
                    transport.word() + ": " + process + " was asked to end; it printed:\n" + process.output());
        }
        process.output()
                .lines()
                .filter(line -> line.startsWith("answered "))
                .forEach(line -> add(transport, "answered", Long.parseLong(line.substring(line.indexOf(' ') + 1))));
        add(transport, "ends", 1);
    }

    private void kill(SoakTransport transport, ChildJvm process) throws InterruptedException {
        if (!process.isAlive()) {
            throw new AssertionError(
                    transport.word() + ": " + process + " ended by itself; it printed:\n" + process.output());
        }
        process.kill();
        add(transport, "kills", 1);
    }

    private static void park(Random random, long mostNanos) {
        long end = System.nanoTime() + (long) (random.nextDouble() * mostNanos);
        for (long left = end - System.nanoTime(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    /** Does something while a server of each transport lives that is not killed. */
    void whileServed(Set<SoakTransport> transports, Step what) throws Exception {
        List<Peers.Mortal> servers = new ArrayList<>();
        try {
            for (SoakTransport transport : transports) {
                servers.add(peers.start(transport, true, 0));
            }
            for (Peers.Mortal server : servers) {
                server.process().awaitLine("> ready");
            }
            what.run();
            for (Peers.Mortal server : servers) {
                endPolitely(server.transport(), server.process());
            }
        } finally {
            for (Peers.Mortal server : servers) {
                server.process().close();
                peers.ended(server);
            }
        }
    }
}
