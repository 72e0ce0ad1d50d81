package dev.rackcall.cp;

import java.lang.invoke.VarHandle;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The thread that works for all tenants of an agent process. It spins while there is work, and for a moment after; then it sleeps until somebody rings. */
final class AgentPump implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(AgentPump.class);
    private static final int SPINS = 2_000;
    /** How long it stays awake without work. */
    private static final long AWAKE_NANOS = 300_000;
    /** The bound, should a ring get lost. */
    private static final long SLEEP_NANOS = 50_000_000;

    private final Agent agent;
    private final Thread thread;
    /** Replaced, never changed. */
    private volatile AgentSession[] sessions = {};

    private volatile boolean closed;

    AgentPump(Agent agent) {
        this.agent = agent;
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
        LockSupport.unpark(thread);
    }

    private void run() {
        AgentSession[] known = {};
        int idle = 0;
        long worked = System.nanoTime();
        while (!closed) {
            AgentSession[] now = sessions;
            if (now != known) {
                known = now;
                watch(now, true);
            }
            boolean waitsForDevice = agent.lanes().pollIfBusy();
            boolean busy = false;
            for (AgentSession session : now) {
                busy |= step(session);
            }
            if (busy) {
                idle = 0;
                worked = System.nanoTime();
            } else if (++idle < SPINS) {
                Thread.onSpinWait();
            } else if (waitsForDevice || System.nanoTime() - worked < AWAKE_NANOS) {
                // On a machine with few cores the device's own thread may need this one.
                Thread.yield();
            } else {
                sleep(now);
                worked = System.nanoTime();
            }
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
        // Partner: Attachment.published, which publishes, fences, and then reads whether it is watched.
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
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
