package dev.rackcall.cp.client;

import static java.lang.foreign.ValueLayout.JAVA_INT;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.session.EntryRing;
import dev.rackcall.cp.session.SessionLayout;
import dev.rackcall.shm.os.socket.UnixSocket;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.BitSet;
import java.util.Deque;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * The tenant's side of a session's places: sends requests through the ring to open and close queues and ports, and
 * waits for the agent's reply. Any thread may use it.
 */
final class Places {
    private static final int SPINS = 5_000;
    private static final int YIELDS = 100;
    private static final int FEW_YIELDS = 10;
    private static final long PAUSE_NANOS = 50_000;
    private static final long LONGEST_PAUSE_NANOS = 1_000_000;
    /** How long closing retries while the ring is full; a busy agent makes room in that time. */
    private static final long CLOSE_NANOS = 1_000_000;

    /** Threads of this process that wait for the agent's reply now. */
    private static final AtomicInteger WAITING = new AtomicInteger();

    private final SessionMemory memory;
    private final EntryRing ring;
    private final UnixSocket bell;
    private final AgentLife life;
    /** Guarded by itself, with {@link #closing}. */
    private final BitSet used = new BitSet();

    private final Deque<Closing> closing = new ArrayDeque<>();
    private final AtomicLong numbers = new AtomicLong();
    private final Unsent unsaid = new Unsent();

    /** @param bell wakes the agent */
    Places(SessionMemory memory, EntryRing ring, UnixSocket bell, AgentLife life) {
        this.memory = memory;
        this.ring = ring;
        this.bell = bell;
        this.life = life;
    }

    /** A place that becomes free when the agent has taken its CLOSE with this id. */
    private record Closing(int place, long id) {}

    /** Writes an entry that requests a place; returns false if there is no room. */
    @FunctionalInterface
    interface Opening {
        boolean ask(int place, long id);
    }

    /** A requested place, and the id of the agent's reply. */
    record Asked(int place, long id) {}

    /** Requests a place; {@link #awaitOpen} waits for it. */
    Asked ask(Opening opening, Patience patience) {
        int place = take();
        long id = numbers.incrementAndGet();
        // Pending closes are sent first, so that a port that is bound again is free.
        while (!unsaid.sayAll() || !opening.ask(place, id)) {
            if (life.isOver() || patience.isOver()) {
                giveBack(place);
                throw life.silent(patience);
            }
            if (Thread.currentThread().isInterrupted()) {
                // An interrupted thread would spin instead of parking.
                giveBack(place);
                throw interrupted();
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        published();
        return new Asked(place, id);
    }

    /**
     * Waits until the place is open, and returns it.
     *
     * @throws ControlPlaneException the agent's refusal; UNREACHABLE if it does not reply in time or the thread is
     *     interrupted
     */
    int awaitOpen(Asked asked, Patience patience) {
        int place = asked.place();
        if (!awaitAnswer(place, asked.id(), patience)) {
            // The agent takes this CLOSE after the request, if at all.
            close(place);
            throw Thread.currentThread().isInterrupted() ? interrupted() : life.silent(patience);
        }
        long at = memory.layout().place(place);
        int outcome = memory.segment().get(JAVA_INT, at + SessionLayout.OUTCOME);
        if (outcome != SessionLayout.OPEN) {
            String text = memory.text(at);
            giveBack(place);
            throw new ControlPlaneException(Kind.values()[outcome - 1], text);
        }
        return place;
    }

    /** @throws ControlPlaneException QUOTA_EXCEEDED if all are in use */
    private int take() {
        synchronized (used) {
            while (!closing.isEmpty()
                    && isAnswered(closing.peek().place(), closing.peek().id())) {
                used.clear(closing.poll().place());
            }
            int place = used.nextClearBit(0);
            if (place >= memory.layout().places()) {
                throw new ControlPlaneException(
                        Kind.QUOTA_EXCEEDED,
                        "this process has " + memory.layout().places()
                                + " virtual queues and may have no more; close some, or start the agent with more");
            }
            used.set(place);
            return place;
        }
    }

    private void giveBack(int place) {
        synchronized (used) {
            used.clear(place);
        }
    }

    private boolean isAnswered(int place, long id) {
        // Partner: SessionPlace.answer.
        long at = memory.layout().place(place);
        return (long) SessionLayout.LONG.getAcquire(memory.segment(), at) == id;
    }

    /**
     * Closes the queue or port at this place, which becomes free when the agent confirms. Never waits for a stopped
     * agent.
     */
    void close(int place) {
        long start = System.nanoTime();
        while (!unsaid.isEmpty() || !tellClosed(place)) {
            if (!unsaid.isEmpty() || System.nanoTime() - start > CLOSE_NANOS) {
                unsaid.say(() -> tellClosed(place));
                return;
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /** Returns whether no retry is needed. */
    private boolean tellClosed(int place) {
        if (life.isOver()) {
            return true;
        }
        long id = numbers.incrementAndGet();
        if (!ring.note(SessionLayout.CLOSE, place, id)) {
            return false;
        }
        synchronized (used) {
            closing.add(new Closing(place, id));
        }
        published();
        return true;
    }

    /** Retries closes that had no room. */
    void goOn() {
        unsaid.sayAll();
    }

    /**
     * Sends an empty entry and waits for its reply; returns false if that takes longer or the thread is interrupted.
     */
    boolean ping(Patience patience) {
        if (life.isOver()) {
            return false;
        }
        int place = take();
        try {
            long id = numbers.incrementAndGet();
            if (life.isOver() || !ring.note(SessionLayout.NOTHING, place, id)) {
                return false;
            }
            published();
            return awaitAnswer(place, id, patience);
        } finally {
            giveBack(place);
        }
    }

    /** Wakes the agent if it sleeps, after an entry was published. */
    void published() {
        // Partner: AgentPump.sleep, which clears WATCHED, fences, and then checks for entries once more.
        VarHandle.fullFence();
        if ((int) SessionLayout.INT.getAcquire(memory.segment(), SessionLayout.WATCHED) == 0) {
            bell.ring();
        }
    }

    private ControlPlaneException interrupted() {
        return Patience.interrupted("waiting for the agent process " + life.pid());
    }

    private boolean awaitAnswer(int place, long id, Patience patience) {
        // A thread spins only if it is the only one: many that start at once would keep the processors from the agent.
        boolean isAlone = WAITING.getAndIncrement() == 0;
        try {
            return awaitAnswer(place, id, isAlone ? SPINS : 0, isAlone ? YIELDS : FEW_YIELDS, patience);
        } finally {
            WAITING.getAndDecrement();
        }
    }

    private boolean awaitAnswer(int place, long id, int spins, int yields, Patience patience) {
        long start = System.nanoTime();
        int polls = 0;
        while (!isAnswered(place, id)) {
            if (++polls < spins) {
                Thread.onSpinWait();
            } else if (polls < spins + yields) {
                Thread.yield();
            } else {
                if (life.isOver() || patience.isOver() || Thread.currentThread().isInterrupted()) {
                    return false;
                }
                // With many waiting threads, frequent polls would keep the processors from the agent.
                long waited = System.nanoTime() - start;
                LockSupport.parkNanos(Math.clamp(waited / 4, PAUSE_NANOS, LONGEST_PAUSE_NANOS));
            }
        }
        return true;
    }
}
