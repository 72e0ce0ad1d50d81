package dev.rackcall.rpc.shm.server;

import dev.rackcall.rpc.shm.protocol.LostWakeUps;
import dev.rackcall.shm.os.Processor;
import dev.rackcall.shm.os.socket.EventPoll;
import dev.rackcall.shm.waiting.SpinTime;
import dev.rackcall.shm.waiting.Spinning;
import dev.rackcall.shm.waiting.WaitCounts;
import dev.rackcall.shm.waiting.WaitStrategy;
import dev.rackcall.shm.waiting.WatchTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * One polling thread of a server and the connections that it owns. Busy connections are watched: polled turn by turn.
 * Idle ones ring through their socket. After a while with nothing to do, the poller watches none and sleeps in the
 * kernel.
 */
public final class Poller {
    /** Turns between two checks of the sockets, for new connections, rings and deaths. */
    private static final int TURNS_PER_LOOK = 512;
    /** How many turns a turn without a request counts as, so that an idle poller checks the sockets sooner. */
    private static final int IDLE_TURN_WEIGHT = 4;

    /** Further polls of a lone connection in a turn without a request, each after a pause. */
    private static final int PAUSES_PER_TURN = 8;

    /** Turns without a request before the thread reads the clock: one to two microseconds. */
    private static final int FIRST_TURNS = 4;

    /** Time without a request that counts as one turn without a request. */
    private static final long TURN_NANOS = 10_000;
    /** With at most so many turns without a request in a tenth of a second, a poller is overloaded. */
    private static final long TURNS_OVERLOADED = 1_000;

    private static final long MAX_SLEEP_NANOS = TimeUnit.SECONDS.toNanos(1);
    private final EventPoll events = EventPoll.create();
    private final WaitStrategy waiting;
    private final Spinning spinning;
    private final Map<Long, ShmServerConnection> connections = new HashMap<>();
    private final Mailbox mail = new Mailbox();
    private final WatchList watched = new WatchList();
    /** Connections whose rings woke the thread and are still in their sockets. */
    private final List<ShmServerConnection> unread = new ArrayList<>();

    private long lastTag;
    private int idleTurns;
    /** Whether a caller shared the thread's processor when it last ran out of requests. */
    private boolean together = Spinning.alwaysShares();

    private int firstTurns = FIRST_TURNS;
    /** The slice at the last check of the sockets. */
    private int sliceOfLook;

    private int turns;
    private final WatchTime watchTime = new WatchTime();

    private final AtomicInteger connectionCount = new AtomicInteger();
    private final BooleanSupplier draining;
    private final Runnable woken;
    private final Relief<ShmServerConnection> relief;
    /** Whether the thread is to count the waiting requests. */
    private volatile boolean counting;

    private volatile boolean stopping;
    /** The thread has ended: a thread that posts an action runs it. */
    private volatile boolean ended;
    /** Takes over the connections when the thread ends; null: they end with it. */
    private volatile Poller successor;

    /** Turns without a request so far. Written by the polling thread; opaque, since nothing is ordered by it. */
    private final AtomicLong emptyTurns = new AtomicLong();

    // Of the watching thread only.
    private long emptyTurnsBefore;
    private int looksOverloaded;
    private int looksAsleep;

    /** Waiting requests at the last count. */
    private volatile int waitingRequests;

    private Poller(WaitStrategy waiting, SpinTime gaps, BooleanSupplier draining, Runnable woken, String name) {
        this.waiting = waiting;
        this.draining = draining;
        this.woken = woken;
        this.spinning = new Spinning(waiting, gaps);
        this.relief = new Relief<>(this::run, name, Poller::watchAgain);
    }

    /**
     * A poller with its thread started.
     *
     * @param gaps records the gaps between the poller's requests
     * @param draining whether clients are to connect elsewhere
     * @param woken called by the thread when it may have something to do
     */
    static Poller start(WaitStrategy waiting, SpinTime gaps, BooleanSupplier draining, Runnable woken, String name) {
        Poller poller = new Poller(waiting, gaps, draining, woken, name);
        try {
            poller.relief.start();
        } catch (RuntimeException | Error e) {
            poller.events.close();
            throw e;
        }
        return poller;
    }

    /** Hands over a connection that has been agreed with its client. Any thread. */
    void add(ShmServerConnection connection) {
        connection.handOverTo(this);
        post(() -> adopt(connection));
        // Afterwards: an action that is posted once the connection counts finds it.
        connectionCount.incrementAndGet();
    }

    /** Ends a connection that was handed over. Any thread. */
    void discard(ShmServerConnection connection) {
        post(() -> {
            if (connection.poller() == this) {
                drop(connection);
            } else {
                connection.discard();
            }
        });
    }

    /** Runs {@code action} on the polling thread soon, or on this one if that thread has ended. Any thread. */
    void post(Runnable action) {
        mail.add(action);
        // The volatile stores above precede these checks. The poller announces its sleep, and its end, before its last
        // check of the mail.
        if (ended) {
            runLateMail();
        } else if (mail.isReaderAsleep()) {
            events.wakeUp();
        }
    }

    private synchronized void runLateMail() {
        mail.runAll();
    }

    // ---- the watching thread

    /** Compares the poller's state with that of the previous call. */
    void judge() {
        long now = emptyTurns.getOpaque();
        boolean asleep = mail.isReaderAsleep();
        looksAsleep = asleep ? looksAsleep + 1 : 0;
        looksOverloaded = asleep || now - emptyTurnsBefore > TURNS_OVERLOADED ? 0 : looksOverloaded + 1;
        emptyTurnsBefore = now;
    }

    /** The thread is to have more connections: it may not end because it has slept until now. */
    void expectLoad() {
        looksAsleep = 0;
    }

    /** Consecutive calls of {@link #judge} between which the thread had hardly a turn without a request. */
    int looksOverloaded() {
        return looksOverloaded;
    }

    /** Consecutive calls of {@link #judge} that found the thread asleep. */
    int looksAsleep() {
        return looksAsleep;
    }

    /** The busy connections; an old number only delays a decision. */
    int watchedConnections() {
        return watched.size();
    }

    /** Ends the thread; the successor takes over its connections. */
    void retire(Poller heir) {
        // Before `stopping`: a thread that sees that also sees its successor.
        successor = heir;
        stopping = true;
        events.wakeUp();
    }

    boolean hasEnded() {
        return relief.join(Duration.ZERO);
    }

    int connectionCount() {
        return connectionCount.get();
    }

    /** A copy of the connections; polling thread only. */
    List<ShmServerConnection> connections() {
        return new ArrayList<>(connections.values());
    }

    /**
     * Ends the thread and all connections; returns when that is done or {@code nanos} have passed. Called when no other
     * thread requests relief any more.
     */
    void stop(long nanos, Duration stuckAfter) {
        stopping = true;
        events.wakeUp();
        long end = System.nanoTime() + nanos;
        while (!relief.join(stuckAfter) && System.nanoTime() - end < 0) {
            // The thread may be in a handler that never returns; its connections end all the same.
            relief.relieveIfStuck();
        }
    }

    /** Whether the thread is in a handler. */
    boolean isInHandler() {
        return relief.isInHandler();
    }

    /**
     * The requests waiting for the thread at its last count; 0 while it sleeps. Begins a new slice, so that the thread
     * counts again as soon as its handler returns: at the end of a burst no request would be waiting. Any thread.
     */
    int waitingRequests() {
        if (mail.isReaderAsleep()) {
            return 0;
        }
        // Before the new slice: the thread that sees the slice change checks this.
        counting = true;
        relief.nextSlice();
        return waitingRequests;
    }

    /** Whether the thread polls rather than sleeps in the kernel. */
    boolean isAwake() {
        return !mail.isReaderAsleep();
    }

    /** Ends the turn of the connection being served, even if it has more requests. Any thread. */
    void nextSlice() {
        relief.nextSlice();
    }

    /** Lets another thread take over if the polling thread is still in the same handler as at the previous check. */
    void relieveIfStuck() {
        relief.relieveIfStuck();
    }

    // ---- the polling thread

    /** Only watched connections count. An unwatched one has no waiting requests unless all its handlers are stuck. */
    private void countWaiting() {
        counting = false;
        int count = 0;
        for (int i = 0; i < watched.size(); i++) {
            count += watched.get(i).waitingRequests();
        }
        waitingRequests = count;
    }

    private void run() {
        while (!stopping && isMine()) {
            try {
                turn();
            } catch (RuntimeException | Error e) {
                PollerLog.failedTurn(e);
            }
        }
        if (isMine()) {
            end();
        }
    }

    /** Locked: threads that post an action from now on run it, once the connections have left. */
    private synchronized void end() {
        ended = true;
        for (ShmServerConnection connection : connections()) {
            watched.remove(connection);
            // Apart: a connection leaves even if its socket could not be forgotten.
            PollerLog.guarded("forgetting a socket", () -> connection.end.unwatch(events));
            PollerLog.guarded("ending a poller's connection", () -> leave(connection));
        }
        connections.clear();
        connectionCount.set(0);
        events.close();
        mail.runAll();
    }

    private void leave(ShmServerConnection connection) {
        if (successor == null) {
            connection.close();
        } else {
            pass(connection, successor);
        }
    }

    /** A connection that no poller has would hang: it ends if it cannot be passed on. */
    private static void pass(ShmServerConnection connection, Poller other) {
        try {
            other.add(connection);
        } catch (RuntimeException | Error e) {
            connection.close();
            throw e;
        }
    }

    /** Lets the other poller have as many busy connections as this one. */
    void shareWith(Poller other) {
        int most = (watched.size() - other.watched.size()) / 2;
        for (int i = watched.size() - 1; i >= 0 && most > 0 && !draining.getAsBoolean(); i--) {
            if (handOver(watched.get(i), other)) {
                most--;
            }
        }
    }

    /** Returns false if the connection has to stay for now. */
    boolean handOver(ShmServerConnection connection, Poller other) {
        if (!connection.mayMove() || unread.contains(connection)) {
            return false;
        }
        forget(connection);
        pass(connection, other);
        return true;
    }

    private void adopt(ShmServerConnection connection) {
        if (ended || connection.isClosed()) {
            connectionCount.decrementAndGet();
            leave(connection);
            return;
        }
        long tag = ++lastTag;
        connections.put(tag, connection);
        try {
            if (!connection.end.watch(events, tag)) {
                // The client hung up before it was sent its hello.
                drop(connection);
                return;
            }
            watched.add(connection);
            if (draining.getAsBoolean()) {
                // It was on its way when the others were told.
                connection.drain();
            }
        } catch (RuntimeException | Error e) {
            // Without its socket the client's death would go unnoticed.
            drop(connection);
            throw e;
        }
    }

    private void turn() {
        int work = 0;
        // Backwards: a connection that is dropped gives its position to the last one, which has had its turn.
        for (int i = watched.size() - 1; i >= 0; i--) {
            work += pollOne(watched.get(i));
            if (!isMine()) {
                return;
            }
            if (counting) {
                countWaiting();
            }
        }
        if (work > 0) {
            if (idleTurns >= firstTurns) {
                spinning.met();
                rested(spinning.spunUntil() - spinning.start());
            }
            endIdleTurns();
            // Turns with slow handlers are long, and unwatched connections must not wait for many of them.
            if (++turns >= TURNS_PER_LOOK || relief.slice() != sliceOfLook) {
                look(0);
            }
        } else {
            idle();
        }
    }

    private int pollOne(ShmServerConnection connection) {
        try {
            // A lone connection is polled several times per turn.
            int taken = connection.poll(relief, watched.size() == 1 && !together ? PAUSES_PER_TURN : 0);
            if (!isMine()) {
                // Relieved in a handler: another thread owns the connections now.
                return taken;
            }
            if (connection.isOver(taken)) {
                PollerLog.hungUp(connection.peer(), connection.channel(), connection.end.transport());
                drop(connection);
            }
            return taken;
        } catch (ProtocolBreachException e) {
            PollerLog.brokeProtocol(connection.peer(), connection.channel(), connection.end.transport(), e);
        } catch (RuntimeException | Error e) {
            PollerLog.failedServing(connection.peer(), connection.channel(), connection.end.transport(), e);
        }
        if (isMine()) {
            PollerLog.guarded("dropping a connection", () -> drop(connection));
        } else {
            // Relieved in the handler that failed: another thread owns the connections now.
            discard(connection);
        }
        return 1;
    }

    private void idle() {
        emptyTurns.setOpaque(emptyTurns.getPlain() + 1);
        if (mail.mayHaveMail()) {
            // Perhaps a new connection, which should not wait for the next check of the sockets.
            look(0);
            return;
        }
        if ((watched.size() == 0 && waiting.sleeps()) || !spins()) {
            sleep();
            return;
        }
        if (watched.size() > 1) {
            Thread.onSpinWait();
        }
        turns += IDLE_TURN_WEIGHT;
        if (turns >= TURNS_PER_LOOK) {
            look(0);
        }
    }

    /** Whether to continue spinning after another turn without a request. */
    private boolean spins() {
        idleTurns++;
        if (idleTurns < firstTurns && waiting != WaitStrategy.BLOCKING) {
            return true;
        }
        if (idleTurns == firstTurns) {
            spinning.begin();
            watched.runsOn(Processor.current(), spinning.yieldsPay());
            together = Spinning.alwaysShares() || watched.hasCallerHere();
            if (!together) {
                // A caller that was woken may wait for this very processor, and the kernel would let this thread use
                // up its time slice first.
                spinning.offer();
            }
        }
        return spinning.goesOn(together);
    }

    private void sleep() {
        if (idleTurns < firstTurns) {
            spinning.begin();
        }
        if (!unread.isEmpty()) {
            // Another turn drops those that have hung up.
            readRings();
            return;
        }
        if (watched.letAllRing()) {
            waitingRequests = 0;
            look(mail.fallAsleep() && !stopping ? MAX_SLEEP_NANOS : 0);
            WaitCounts.add(WaitCounts.Kind.REQUEST_SLEPT);
            rested(System.nanoTime() - spinning.start());
            if (watched.hasRequest()) {
                spinning.slept();
            }
        }
        endIdleTurns();
    }

    /** One turn may take long: the thread sleeps or yields in it. */
    private void rested(long nanos) {
        emptyTurns.setOpaque(emptyTurns.getPlain() + nanos / TURN_NANOS);
    }

    private void endIdleTurns() {
        idleTurns = 0;
        firstTurns = together ? 1 : FIRST_TURNS;
    }

    /** Handles the events of the sockets (rings and deaths), then the mail. */
    private void look(long nanos) {
        turns = 0;
        int count = nanos == MAX_SLEEP_NANOS ? awaitEvents() : events.await(nanos);
        // After a sleep, in which slices went by: the first request must not cause another check.
        sliceOfLook = relief.slice();
        boolean slept = mail.isReaderAsleep();
        if (slept) {
            mail.wakeUp();
        }
        if (count > 0 || mail.mayHaveMail() || (slept && watched.size() > 0)) {
            // After the line above: the watching thread rests unless it sees that this one is awake. A watched
            // connection's next request is found without an event.
            woken.run();
        }
        if (slept) {
            watched.watchAgain();
        }
        watched.runsOn(Processor.current(), spinning.yieldsPay());
        if (watchTime.isOver()) {
            watched.letUnusedRing();
        }
        for (int i = 0; i < count; i++) {
            ShmServerConnection connection = connections.get(events.tag(i));
            if (connection != null) {
                PollerLog.guarded("reading a connection's socket", () -> rung(connection, slept));
            }
        }
        mail.runAll();
    }

    private int awaitEvents() {
        PollerLog.WaitEvent event = PollerLog.waitBegins();
        int count =
                LostWakeUps.sleep(MAX_SLEEP_NANOS, events::await, this::hasUnrungRequest, "a server's polling thread");
        PollerLog.waited(event, connections.size(), count);
        return count;
    }

    private boolean hasUnrungRequest() {
        return !stopping && connections.values().stream().anyMatch(ShmServerConnection::hasUnrungRequest);
    }

    /** A ring that wakes the thread is read after the request that it announces has been answered. */
    private void rung(ShmServerConnection connection, boolean woken) {
        if (woken && !unread.contains(connection)) {
            unread.add(connection);
        } else {
            unread.remove(connection);
            readRings(connection);
        }
        watched.add(connection);
    }

    private void readRings() {
        while (!unread.isEmpty()) {
            ShmServerConnection connection = unread.removeLast();
            PollerLog.guarded("reading a connection's socket", () -> readRings(connection));
        }
    }

    private void readRings(ShmServerConnection connection) {
        if (connection.drainRings() < 0) {
            // A later turn drops the connection once it finds no more requests, so that one-way calls sent before the
            // end are served.
            connection.hungUp();
            connection.end.unwatch(events);
            watched.add(connection);
        }
    }

    private void drop(ShmServerConnection connection) {
        forget(connection);
        connection.close();
    }

    private void forget(ShmServerConnection connection) {
        watched.remove(connection);
        unread.remove(connection);
        if (connections.values().remove(connection)) {
            connectionCount.decrementAndGet();
            PollerLog.guarded("forgetting a socket", () -> connection.end.unwatch(events));
        }
    }

    // ---- handlers on the polling thread

    /** A stuck handler has returned: its connection may have waited for that. Any thread. */
    private static void watchAgain(ShmServerConnection connection) {
        Poller poller = connection.poller();
        poller.post(() -> {
            if (connection.poller() != poller) {
                watchAgain(connection);
            } else if (poller.connections.containsValue(connection)) {
                poller.watched.add(connection);
            }
        });
    }

    /** Whether the current thread still is this poller's. */
    boolean isMine() {
        return relief.isOnDuty();
    }

    /**
     * Actions for the polling thread, its reader: any thread adds, the polling thread runs them. Knows whether the reader
     * sleeps, so that a thread that adds an action wakes it.
     */
    static final class Mailbox {
        private final Queue<Runnable> actions = new ConcurrentLinkedQueue<>();
        /** Whether there may be actions. One load, while a check of the queue takes several. */
        private volatile boolean mailed;
        /** True from just before the reader's last check of the queue until it wakes up. */
        private volatile boolean readerAsleep;

        /** The caller then wakes the reader {@linkplain #isReaderAsleep if it sleeps}. */
        void add(Runnable action) {
            actions.add(action);
            mailed = true;
        }

        boolean mayHaveMail() {
            return mailed;
        }

        boolean isReaderAsleep() {
            return readerAsleep;
        }

        /** Announces that the reader sleeps; returns whether it may, since there is no action. */
        boolean fallAsleep() {
            readerAsleep = true;
            return actions.isEmpty();
        }

        void wakeUp() {
            readerAsleep = false;
        }

        void runAll() {
            // Before the actions: a thread that adds one later sets it again.
            mailed = false;
            for (Runnable action = actions.poll(); action != null; action = actions.poll()) {
                PollerLog.guarded("an action for the poller", action);
            }
        }
    }
}
