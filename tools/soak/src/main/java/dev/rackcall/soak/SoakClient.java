package dev.rackcall.soak;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * A process that calls the survivor of its transport. A survivor itself, it keeps one connection for the whole soak,
 * opens others for a few calls each, and calls servers that die.
 */
final class SoakClient extends SoakChild {
    /** The calls of a connection that is opened only for them. */
    private static final int CALLS_OF_A_VISIT = 20;
    /** Threads that share the connection that is kept; theirs are the first callers. */
    private static final int STRICT = 2;
    /** Futures and streams that callers left behind are awaited after so many calls. */
    private static final int CALLS_TO_END = 200;
    /** Leaves processors to the other processes; calls of a dead server fail at once. */
    private static final long MOST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final int PAUSES_OF_A_VISITOR = 10;

    /** Each thread holds its read lock during a call; {@code calm} takes its write lock. */
    private final ReadWriteLock calling = new ReentrantReadWriteLock(true);

    private final List<SoakCaller> callers = new CopyOnWriteArrayList<>();
    private final List<SoakConnection> others = new ArrayList<>();
    private final AtomicLong answered = new AtomicLong();
    private final AtomicLong visits = new AtomicLong();
    private final Random random;
    private Connector toSurvivor = _ -> {
        throw new IllegalStateException("this client does not survive");
    };
    private Optional<SoakConnection> kept = Optional.empty();
    /** Answers of callers that go on, which are in the sum. */
    private long counted;

    private boolean isCalm;

    /** One end of a connection, over which it makes callers. */
    interface SoakConnection extends AutoCloseable {
        /** A caller for one thread. */
        SoakCaller caller(long seed);

        /** Fails if an idle connection uses more than at first. */
        void check();

        @Override
        void close();
    }

    /** Makes random calls and checks their answers. Used by one thread at a time. */
    interface SoakCaller {
        void call() throws Exception;

        /** Awaits and gives back what calls have left. */
        void end();

        long answered();
    }

    /** Connects to a server. */
    interface Connector {
        SoakConnection connect(boolean serverDies);
    }

    private SoakClient(long seed) {
        random = new Random(seed);
    }

    /**
     * The program.
     *
     * @param arguments the transport, the soak's folder, a seed, the number of its host, the survivor's channel and
     *     address; a client that survives also has the channel and the address of the servers that die
     */
    public static void main(String[] arguments) {
        try {
            SoakTransport transport = SoakTransport.valueOf(arguments[0]);
            Path root = Path.of(arguments[1]);
            long seed = Long.parseLong(arguments[2]);
            boolean survives = arguments.length > 6;
            if (!survives) {
                SoakConnections.injectFaults(transport, seed);
            }
            SoakServer.certify(transport, root);
            SoakConnections connections = new SoakConnections(transport, root, Integer.parseInt(arguments[3]));
            Connector toSurvivor = serverDies -> connections.open(arguments[4], arguments[5], serverDies);
            SoakClient client = new SoakClient(seed);
            if (survives) {
                client.survive(toSurvivor, serverDies -> connections.open(arguments[6], arguments[7], serverDies));
            } else {
                client.bereave(toSurvivor);
            }
            client.run();
        } catch (Throwable t) {
            fail(t);
        }
    }

    private void survive(Connector toSurvivor, Connector toMortals) {
        this.toSurvivor = toSurvivor;
        openKept();
        thread("strict-1", 1, () -> call(0));
        thread("strict-2", 1, () -> call(1));
        thread("visitor", PAUSES_OF_A_VISITOR, this::visit);
        bereave(toMortals);
    }

    /** Calls a server that may die at any time. */
    private void bereave(Connector toMortals) {
        SoakConnection connection = toMortals.connect(true);
        others.add(connection);
        int number = callers.size();
        callers.add(connection.caller(random.nextLong()));
        thread("bereaved", 1, () -> call(number));
    }

    private void openKept() {
        SoakConnection connection = toSurvivor.connect(false);
        // It must have no more in use when it is idle again.
        connection.check();
        kept = Optional.of(connection);
        for (int i = 0; i < STRICT; i++) {
            SoakCaller caller = connection.caller(random.nextLong());
            if (i < callers.size()) {
                callers.set(i, caller);
            } else {
                callers.add(caller);
            }
        }
    }

    private void call(int number) throws Exception {
        SoakCaller caller = callers.get(number);
        caller.call();
        if (random.nextInt(CALLS_TO_END) == 0) {
            caller.end();
        }
    }

    private void thread(String name, int pauses, Mortals.Step step) {
        Random chance = new Random(random.nextLong());
        Thread.ofPlatform().daemon().name("soak-" + name).start(() -> {
            try {
                while (true) {
                    calling.readLock().lock();
                    try {
                        step.run();
                    } finally {
                        calling.readLock().unlock();
                    }
                    LockSupport.parkNanos((long) (chance.nextDouble() * pauses * MOST_PAUSE_NANOS));
                }
            } catch (Throwable t) {
                fail(t);
            }
        });
    }

    /** Opens a connection, makes some calls and closes it. */
    private void visit() throws Exception {
        try (SoakConnection connection = toSurvivor.connect(false)) {
            SoakCaller caller = connection.caller(visits.incrementAndGet());
            for (int call = 0; call < CALLS_OF_A_VISIT; call++) {
                caller.call();
            }
            caller.end();
            answered.addAndGet(caller.answered());
        }
    }

    /** Ends calls, checks the connection that was kept through all of them, and closes it, so that nothing is left. */
    @Override
    Map<String, Long> calm() {
        if (!isCalm) {
            pause();
            kept.ifPresent(SoakConnection::check);
            kept.ifPresent(SoakConnection::close);
        }
        return Map.of("answered", answered.get(), "visits", visits.get());
    }

    private void pause() {
        calling.writeLock().lock();
        isCalm = true;
        callers.forEach(SoakCaller::end);
        answered.addAndGet(callers.stream().mapToLong(SoakCaller::answered).sum() - counted);
        counted = callers.stream()
                .skip(kept.isPresent() ? STRICT : 0)
                .mapToLong(SoakCaller::answered)
                .sum();
    }

    @Override
    void proceed() {
        openKept();
        isCalm = false;
        calling.writeLock().unlock();
    }

    @Override
    void end() {
        if (!isCalm) {
            pause();
            kept.ifPresent(SoakConnection::close);
        }
        others.forEach(SoakConnection::close);
        System.out.println("answered " + answered.get());
    }
}
