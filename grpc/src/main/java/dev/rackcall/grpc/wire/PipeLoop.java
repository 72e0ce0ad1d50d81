package dev.rackcall.grpc.wire;

import dev.rackcall.rpc.spi.LimitedLog;
import dev.rackcall.shm.os.Affinity;
import dev.rackcall.shm.os.OsException;
import dev.rackcall.shm.os.socket.EventPoll;
import dev.rackcall.shm.waiting.SpinTime;
import dev.rackcall.shm.waiting.Spinning;
import dev.rackcall.shm.waiting.WaitStrategy;
import dev.rackcall.shm.waiting.WatchTime;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A thread that receives the frames of its connections. It polls recently busy connections in turn; peers of the other
 * connections ring. With nothing to do, it spins for as long as that has paid off lately, and then sleeps in the
 * kernel.
 */
public final class PipeLoop implements AutoCloseable {
    private static final LimitedLog LOG = LimitedLog.of(PipeLoop.class);

    private static final long MAX_SLEEP_NANOS = TimeUnit.SECONDS.toNanos(1);
    /** Turns between two checks of the sockets. */
    private static final int TURNS_PER_LOOK = 512;
    /** As how many turns a turn without work counts. */
    private static final int IDLE_TURN_WEIGHT = 4;
    /** Consecutive sleeps without a frame after which a connection's peer has to ring. */
    private static final int MOST_RESTS = 3;
    /** Turns without work before the thread reads the clock. */
    private static final int FIRST_TURNS = 16;

    private static final long FAILED_TURN_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

    private final EventPoll events = EventPoll.create();
    private final Map<Long, PipeConnection> connections = new HashMap<>();
    private final List<PipeConnection> watched = new ArrayList<>();
    private final Queue<Runnable> mail = new ConcurrentLinkedQueue<>();
    private final Spinning spinning;
    private final WatchTime watchTime = new WatchTime();
    private final Thread thread;

    private long lastTag;
    private int idleTurns;
    private int turns;
    private volatile boolean mailed;
    private volatile boolean sleeping;
    private volatile boolean stopping;
    /**
     * Whether the thread has ended. Threads that post then run the mail themselves, which closes the connections that
     * they add.
     */
    private volatile boolean ended;

    private PipeLoop(String name, SpinTime time) {
        spinning = new Spinning(WaitStrategy.adaptive(), time);
        thread = new Thread(this::run, name);
        thread.setDaemon(true);
    }

    /** Starts a loop for connections inside this host; its thread is a daemon of that name. */
    public static PipeLoop start(String name) {
        return start(name, SpinTime.ofMemory());
    }

    /** Starts a loop for connections over devices; its thread is a daemon of that name. */
    public static PipeLoop startForDevices(String name) {
        return start(name, SpinTime.ofDevice());
    }

    private static PipeLoop start(String name, SpinTime time) {
        PipeLoop loop = new PipeLoop(name, time);
        loop.thread.start();
        return loop;
    }

    /** Begins to receive the frames of a connection. Any thread. */
    void add(PipeConnection connection) {
        post(() -> adopt(connection));
    }

    /** Ends a connection soon. Any thread. */
    void close(PipeConnection connection, String reason) {
        post(() -> drop(connection, reason));
    }

    /** Ends a connection once no frame waits for room. Any thread. */
    void closeOnceSent(PipeConnection connection, String reason) {
        post(() -> {
            connection.ending = reason;
            dropOnceSent(connection);
        });
    }

    private boolean dropOnceSent(PipeConnection connection) {
        boolean sent = connection.ending != null && !connection.sender().isBacklogged();
        if (sent) {
            drop(connection, connection.ending);
        }
        return sent;
    }

    /** Ends a connection soon after a failure of this end or a breach of the peer's. Any thread. */
    void fail(PipeConnection connection, Throwable failure) {
        post(() -> {
            if (connections.containsKey(connection.tag)) {
                dropAfter(connection, failure);
            }
        });
    }

    /** Polls a connection again, in which a caller has left frames. */
    void wake(PipeConnection connection) {
        post(() -> {
            if (connections.containsKey(connection.tag)) {
                watch(connection);
            }
        });
    }

    /** Something has arrived for a connection without a socket. Any thread. */
    void arrived(PipeConnection connection) {
        post(() -> {
            if (connections.containsKey(connection.tag) && !connection.watched) {
                // Polls it, or listens again: what has arrived may be what a caller has taken.
                letRing(connection);
            }
        });
    }

    /** The peer of a connection without a socket has ended. Any thread. */
    void peerEnded(PipeConnection connection) {
        post(() -> {
            if (connections.containsKey(connection.tag)) {
                hungUp(connection);
                watch(connection);
            }
        });
    }

    private void post(Runnable action) {
        mail.add(action);
        mailed = true;
        // The volatile stores above precede this check. The loop announces its sleep before its last check of the mail.
        if (sleeping) {
            events.wakeUp();
        }
        if (ended) {
            runLastMail();
        }
    }

    private synchronized void runLastMail() {
        runMail();
    }

    /** Ends all connections and the thread; returns soon. */
    @Override
    public void close() {
        stopping = true;
        events.wakeUp();
    }

    private void run() {
        try {
            Affinity.asProcess();
        } catch (OsException e) {
            LOG.debug("{} stays on its starter's processors: {}", thread.getName(), e.getMessage());
        }
        while (!stopping) {
            try {
                turn();
            } catch (RuntimeException | Error e) {
                LOG.warn("{} goes on after {}", thread.getName(), e, e);
                LockSupport.parkNanos(FAILED_TURN_NANOS);
            }
        }
        end();
    }

    private synchronized void end() {
        // Before the mail: a thread that posts later sees it.
        ended = true;
        runMail();
        for (PipeConnection connection : new ArrayList<>(connections.values())) {
            drop(connection, "this end has shut down");
        }
        events.close();
    }

    private void turn() {
        int work = 0;
        for (int i = watched.size() - 1; i >= 0; i--) {
            work += turn(watched.get(i));
        }
        if (mailed) {
            runMail();
            work++;
        }
        if (work > 0) {
            if (idleTurns >= FIRST_TURNS) {
                spinning.met();
            }
            idleTurns = 0;
            if (++turns >= TURNS_PER_LOOK) {
                look(0);
            }
            return;
        }
        if (watched.isEmpty() || !spins()) {
            sleep();
            return;
        }
        Thread.onSpinWait();
        turns += IDLE_TURN_WEIGHT;
        if (turns >= TURNS_PER_LOOK) {
            look(0);
        }
    }

    private int turn(PipeConnection connection) {
        try {
            int work = connection.turn();
            if (dropOnceSent(connection)) {
                return 1;
            }
            if (work > 0) {
                connection.used = true;
                connection.rests = 0;
            } else if (connection.hungUp) {
                // No ring will come any more, so the connection stays watched while a caller takes its last frames.
                if (connection.isDrained()) {
                    drop(connection, "the peer has ended");
                }
            }
            return work;
        } catch (RuntimeException | Error e) {
            dropAfter(connection, e);
        }
        return 1;
    }

    private void dropAfter(PipeConnection connection, Throwable failure) {
        boolean breach = failure instanceof FrameBreachException;
        if (breach) {
            LOG.warn("{} broke the protocol and is closed: {}", connection, failure.getMessage());
        } else {
            LOG.warn("{} is closed after {}", connection, failure, failure);
        }
        drop(
                connection,
                breach ? "the peer broke the protocol: " + failure.getMessage() : "this end failed: " + failure,
                true);
    }

    private boolean spins() {
        if (++idleTurns < FIRST_TURNS) {
            return true;
        }
        if (idleTurns == FIRST_TURNS) {
            spinning.begin();
            spinning.offer();
        }
        return spinning.goesOn(Spinning.alwaysShares());
    }

    private void sleep() {
        if (idleTurns < FIRST_TURNS) {
            spinning.begin();
        }
        idleTurns = 0;
        for (int i = 0; i < watched.size(); i++) {
            watched.get(i).asleep(true);
        }
        sleeping = true;
        // Orders the words before the last check. A peer publishes, fences, and then reads its word.
        PipeBell.fence();
        if (hasWork() || mailed || stopping) {
            sleeping = false;
            watchAll();
            return;
        }
        look(MAX_SLEEP_NANOS);
        if (hasWork()) {
            spinning.slept();
        }
    }

    private boolean hasWork() {
        for (int i = 0; i < watched.size(); i++) {
            if (watched.get(i).hasWork() || watched.get(i).hungUp) {
                return true;
            }
        }
        return false;
    }

    private void watchAll() {
        for (int i = 0; i < watched.size(); i++) {
            watched.get(i).asleep(false);
        }
    }

    /** Handles rings and deaths, then the mail. */
    private void look(long nanos) {
        turns = 0;
        int count = events.await(nanos);
        if (sleeping) {
            sleeping = false;
            for (int i = watched.size() - 1; i >= 0; i--) {
                if (++watched.get(i).rests > MOST_RESTS) {
                    remove(watched.get(i));
                }
            }
            watchAll();
        }
        if (watchTime.isOver()) {
            letUnusedRing();
        }
        for (int i = 0; i < count; i++) {
            PipeConnection connection = connections.get(events.tag(i));
            if (connection != null) {
                rung(connection);
            }
        }
        runMail();
    }

    private void rung(PipeConnection connection) {
        if (connection.drainRings() < 0) {
            hungUp(connection);
        }
        watch(connection);
    }

    /** A later turn drops it, once it finds no more frames. */
    private void hungUp(PipeConnection connection) {
        connection.hungUp = true;
        connection.unwatch(events);
    }

    private void runMail() {
        // Before the actions: a thread that adds one later sets it again.
        mailed = false;
        for (Runnable action = mail.poll(); action != null; action = mail.poll()) {
            try {
                action.run();
            } catch (RuntimeException | Error e) {
                LOG.warn("{} goes on after {}", thread.getName(), e, e);
            }
        }
    }

    private void adopt(PipeConnection connection) {
        if (stopping || !connection.sender().isOpen()) {
            // It was closed or has failed before. A closed one has no memory to look at any more.
            drop(connection, stopping ? "this end has shut down" : "this end failed before it began to receive", true);
            return;
        }
        connection.tag = ++lastTag;
        connections.put(connection.tag, connection);
        boolean open;
        try {
            open = connection.watch(events);
        } catch (RuntimeException | Error e) {
            // Without watching its socket, the peer's death would go unnoticed.
            drop(connection, "its socket cannot be watched: " + e.getMessage());
            throw e;
        }
        if (open) {
            watch(connection);
        } else {
            drop(connection, "its socket was closed");
        }
    }

    private void watch(PipeConnection connection) {
        connection.asleep(false);
        connection.rests = 0;
        if (!connection.watched) {
            connection.watched = true;
            watched.add(connection);
        }
    }

    /** Stops watching connections that had no work since the last call, but keeps at least one watched. */
    private void letUnusedRing() {
        // Backwards: removing a connection moves only those that were already checked.
        for (int i = watched.size() - 1; i >= 0 && watched.size() > 1; i--) {
            PipeConnection connection = watched.get(i);
            boolean unused = !connection.used;
            connection.used = false;
            // A peer that has hung up rings no more.
            if (unused && !connection.hungUp) {
                try {
                    letRing(connection);
                } catch (RuntimeException | Error e) {
                    dropAfter(connection, e);
                }
            }
        }
    }

    private void letRing(PipeConnection connection) {
        connection.asleep(true);
        // As in sleep().
        PipeBell.fence();
        if (connection.hasWork()) {
            watch(connection);
        } else {
            remove(connection);
        }
    }

    private void remove(PipeConnection connection) {
        connection.watched = false;
        watched.remove(connection);
    }

    private void drop(PipeConnection connection, String reason) {
        drop(connection, reason, false);
    }

    private void drop(PipeConnection connection, String reason, boolean atOnce) {
        remove(connection);
        if (connections.remove(connection.tag) != null) {
            connection.unwatch(events);
        }
        connection.close(reason, atOnce);
    }
}
