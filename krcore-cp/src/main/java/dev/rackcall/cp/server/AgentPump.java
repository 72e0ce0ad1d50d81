package dev.rackcall.cp.server;

import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The thread that works for all tenants of an agent process. It spins while there is work, and for a moment after; then it sleeps until somebody rings. */
final class AgentPump implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AgentPump.class);
    /** How long it keeps the processor without work. */
    private static final long SPIN_NANOS = 20_000;
    /** How long it stays awake without work. */
    private static final long AWAKE_NANOS = 300_000;
    /** The bound, should a ring get lost. */
    private static final long SLEEP_NANOS = 50_000_000;

    /** So many rounds in a row that end by memory that is not there are no tenant's doing. */
    private static final int MAX_FAULTS = 1000;

    /** A device that takes longer than this for one step does not answer any more. */
    private static final Duration END_TIME = Duration.ofSeconds(5);

    private final BooleanSupplier device;
    private final Runnable failed;
    private final Thread thread;
    /** Replaced, never changed. */
    private volatile AgentSession[] sessions = {};

    private volatile boolean closed;
    /** Of the pump's thread. */
    private int faults;

    /**
     * @param device takes what has completed; returns whether requests are under way
     * @param failed runs on the pump's thread when that ends by a failure, so that nobody waits for it
     */
    AgentPump(BooleanSupplier device, Runnable failed) {
        this.device = device;
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

    /** There is something to do. */
    void wake() {
        if (Thread.currentThread() != thread) {
            LockSupport.unpark(thread);
        }
    }

    private void run() {
        try {
            work();
        } catch (RuntimeException | Error e) {
            LOG.error("the agent's device failed, and with it the agent", e);
            failed.run();
        }
    }

    private void work() {
        AgentSession[] known = {};
        long worked = System.nanoTime();
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
            long idle = busy ? 0 : System.nanoTime() - worked;
            if (busy) {
                worked = System.nanoTime();
            } else if (idle < SPIN_NANOS) {
                Thread.onSpinWait();
            } else if (waitsForDevice || idle < AWAKE_NANOS) {
                // On a machine with few cores the device's own thread, or who waits for this one, may need it.
                Thread.yield();
            } else {
                sleep(now);
                worked = System.nanoTime();
            }
        }
    }

    /** Memory of a tenant's file that is cut under the device costs a request or a connection, and not the agent that all tenants share. */
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

    /** A session that breaks the agent's code ends by itself. */
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
        boolean hasWork = now != sessions || closed;
        for (AgentSession session : now) {
            hasWork |= session.queues().map(SessionQueues::hasWork).orElse(false);
        }
        if (!hasWork) {
            LockSupport.parkNanos(SLEEP_NANOS);
        }
        watch(now, true);
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
                        "the agent's device has not ended a step in {} s; its thread is left behind",
                        END_TIME.toSeconds());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
