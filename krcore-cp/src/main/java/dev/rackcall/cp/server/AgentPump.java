package dev.rackcall.cp.server;

import dev.rackcall.shm.waiting.SpinTime;
import dev.rackcall.shm.waiting.Spinning;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that serves all tenants of an agent process. It spins while there is work and for a moment after, then
 * sleeps until it is woken. While it spins, it yields between its polls, and so do the other spinning threads of this
 * process: a call needs the tenant, this thread and the peer one after the other, and the machine may have fewer
 * processors.
 */
final class AgentPump implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AgentPump.class);
    /** The longest sleep, in case a wake-up gets lost. */
    private static final long SLEEP_NANOS = 50_000_000;

    /** After this many faults in a row the device is broken, not a tenant's memory. */
    private static final int MAX_FAULTS = 1000;

    /** A device step that takes longer than this has failed. */
    private static final Duration END_TIME = Duration.ofSeconds(5);

    private final BooleanSupplier device;
    private final Runnable rest;
    private final Runnable failed;
    private final Thread thread;
    /** Replaced, never changed. */
    private volatile AgentSession[] sessions = {};

    private volatile boolean closed;
    /** Used by the pump's thread only, as is what follows. */
    private int faults;

    private final Spinning spinning = new Spinning(WaitStrategy.adaptive(), SpinTime.ofDevice());
    /** Whether the thread has found no work since {@link Spinning#begin}. */
    private boolean idle;

    /**
     * @param device polls the device; returns whether requests are in flight
     * @param rest runs before the pump sleeps, and polls no longer
     * @param failed runs on the pump's thread when it ends with a failure
     */
    AgentPump(BooleanSupplier device, Runnable rest, Runnable failed) {
        this.device = device;
        this.rest = rest;
        this.failed = failed;
        thread = Thread.ofPlatform().daemon().name("rackcall-agent-pump").unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    synchronized void add(AgentSession session) {
        sessions = Stream.concat(Stream.of(sessions), Stream.of(session)).toArray(AgentSession[]::new);
        wake();
    }

    synchronized void remove(AgentSession session) {
        sessions = Stream.of(sessions).filter(other -> other != session).toArray(AgentSession[]::new);
    }

    /** Wakes the pump, since there is work. */
    void wake() {
        if (Thread.currentThread() != thread) {
            LockSupport.unpark(thread);
        }
    }

    private void run() {
        Spinning.pollsForOthers(true);
        try {
            work();
        } catch (RuntimeException | Error e) {
            LOG.error("the agent's device failed, and with it the agent", e);
            failed.run();
        } finally {
            Spinning.pollsForOthers(false);
        }
    }

    private void work() {
        AgentSession[] known = {};
        while (!closed) {
            AgentSession[] now = sessions;
            if (now != known) {
                known = now;
                watch(now, true);
            }
            boolean waitsForDevice = stepOfDevice();
            boolean busy = false;
            for (AgentSession session : now) {
                busy |= step(session);
            }
            if (busy) {
                endIdling();
            } else if (waitsForDevice) {
                endIdling();
                // The peer, the device's own thread or a waiting tenant may need this processor.
                Thread.yield();
            } else if (!goesOn()) {
                sleep(now);
            }
        }
    }

    private void endIdling() {
        if (idle) {
            idle = false;
            spinning.met();
        }
    }

    private boolean goesOn() {
        if (!idle) {
            idle = true;
            spinning.begin();
        }
        Thread.onSpinWait();
        // A tenant that was told of completions may wait for this processor.
        return spinning.goesOn(true);
    }

    /**
     * Polls the device. If a tenant truncates a file that the device uses, a request or a connection fails, but the
     * agent continues.
     */
    private boolean stepOfDevice() {
        try {
            boolean waits = device.getAsBoolean();
            faults = 0;
            return waits;
        } catch (InternalError e) {
            if (++faults == MAX_FAULTS) {
                throw e;
            }
            if (faults == 1) {
                LOG.warn("the device found memory missing; was a tenant's file cut?", e);
            }
            return true;
        }
    }

    /** Serves one session; an exception ends only this session. */
    private static boolean step(AgentSession session) {
        Optional<SessionQueues> queues = session.queues();
        try {
            return queues.isPresent() && queues.get().step();
        } catch (RuntimeException | Error e) {
            LOG.warn("{} ends after a failure", session, e);
            session.end();
            return true;
        }
    }

    private void sleep(AgentSession[] now) {
        watch(now, false);
        // Partner: Places.published, which publishes, fences, and then reads whether it is watched.
        VarHandle.fullFence();
        if (now == sessions && !closed && !hasWork(now)) {
            rest.run();
            Spinning.pollsForOthers(false);
            try {
                LockSupport.parkNanos(SLEEP_NANOS);
            } finally {
                Spinning.pollsForOthers(true);
            }
        }
        watch(now, true);
        idle = false;
        if (hasWork(now)) {
            spinning.slept();
        }
    }

    private static boolean hasWork(AgentSession[] now) {
        boolean hasWork = false;
        for (AgentSession session : now) {
            hasWork |= session.queues().map(SessionQueues::hasWork).orElse(false);
        }
        return hasWork;
    }

    private static void watch(AgentSession[] now, boolean awake) {
        for (AgentSession session : now) {
            session.queues().ifPresent(queues -> queues.watch(awake));
        }
    }

    @Override
    public void close() {
        closed = true;
        wake();
        try {
            if (!thread.join(END_TIME)) {
                LOG.warn(
                        "the agent's device has not ended a step in {} s; its thread keeps running",
                        END_TIME.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
