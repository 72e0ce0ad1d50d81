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

/** The places of a session, at the tenant's side: asks the agent through the session's ring to open and close queues and ports there, and waits for its word. Any thread may use it. */
final class Places {
    private static final int SPINS = 5_000;
    private static final int YIELDS = 100;
    private static final int FEW_YIELDS = 10;
    private static final long PAUSE_NANOS = 50_000;
    private static final long LONGEST_PAUSE_NANOS = 1_000_000;
    /** For how long who closes something looks for room, if the ring is full just then: a busy agent makes some in that time. */
    private static final long CLOSE_NANOS = 1_000_000;

    /** Threads of this process that wait for an agent's answer now. */
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

    /** A place that is free again when the agent has taken its CLOSE, which has this id. */
    private record Closing(int place, long id) {}

    /** Something that is asked for by an entry of the ring; false if there is no room. */
    @FunctionalInterface
    interface Opening {
        boolean ask(int place, long id);
    }

    /** A place that was asked for, and the id by which the agent answers. */
    record Asked(int place, long id) {}

    /** Asks for a place that {@link #awaitOpen} then waits for. */
    Asked ask(Opening opening, Patience patience) {
        int place = take();
        long id = numbers.incrementAndGet();
        // What was closed before comes first: a port that is bound again is free then.
        while (!unsaid.sayAll() || !opening.ask(place, id)) {
            if (life.isOver() || patience.isOver()) {
                giveBack(place);
                throw life.silent(patience);
            }
            if (Thread.currentThread().isInterrupted()) {
                // It would not park, but spin for all its time.
                giveBack(place);
                throw interrupted();
            }
            LockSupport.parkNanos(PAUSE_NANOS);
        }
        published();
        return new Asked(place, id);
    }

    /**
     * Returns a place that is open.
     *
     * @throws ControlPlaneException why the agent has not opened it, or UNREACHABLE if it does not answer in time or the thread is interrupted
     */
    int awaitOpen(Asked asked, Patience patience) {
        int place = asked.place();
        if (!awaitAnswer(place, asked.id(), patience)) {
            // Taken after the other, if ever.
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

    /** Ends what is at this place, which is free again when the agent says so. Waits for no agent that stands still. */
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

    /** Returns whether that is done with. */
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

    /** Says what had no room when it was to be said. */
    void goOn() {
        unsaid.sayAll();
    }

    /** Goes through the agent's hands and back; false if it takes longer, or if the thread is interrupted meanwhile. */
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

    /** Something is in the ring: makes sure that the agent looks. */
    void published() {
        // Partner: AgentPump.sleep, which says that it does not watch, fences, and then looks once more.
        VarHandle.fullFence();
        if ((int) SessionLayout.INT.getAcquire(memory.segment(), SessionLayout.WATCHED) == 0) {
            bell.ring();
        }
    }

    private ControlPlaneException interrupted() {
        return Patience.interrupted("the agent process " + life.pid() + " was to answer");
    }

    private boolean awaitAnswer(int place, long id, Patience patience) {
        // Who is not alone does not spin: many that start at a time would keep the processors from the agent that they
        // wait for.
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
                // Where many wait for long, looking often would keep the processors from the agent.
                long waited = System.nanoTime() - start;
                LockSupport.parkNanos(Math.clamp(waited / 4, PAUSE_NANOS, LONGEST_PAUSE_NANOS));
            }
        }
        return true;
    }
}
