package dev.rackcall.cp.meta;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.table.HostRecord;
import java.time.Duration;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps a host known to the meta server, by a thread of its own, also after the meta server has restarted. */
public final class Registration {
    private static final Logger LOG = LoggerFactory.getLogger(Registration.class);

    private final HostId host;
    private final HostRecord record;
    private final Optional<MetaClient> meta;
    private final Duration renewal;
    private final Runnable chore;
    private final Object wake = new Object();
    private final Thread thread;
    private boolean ended;
    private volatile Optional<String> problem = Optional.empty();

    /** @param chore what is to be done after each renewal */
    public Registration(HostId host, HostRecord record, Optional<MetaClient> meta, Duration renewal, Runnable chore) {
        this.chore = chore;
        this.host = host;
        this.record = record;
        this.meta = meta;
        this.renewal = renewal;
        thread = Thread.ofPlatform().daemon().name("rackcall-register-" + host).unstarted(this::run);
    }

    public Optional<String> problem() {
        return problem;
    }

    /** @throws ControlPlaneException if the meta server refuses; if it does not answer the thread goes on trying */
    public void begin() {
        if (meta.isEmpty()) {
            return;
        }
        try {
            meta.get().register(host, record);
        } catch (ControlPlaneException e) {
            if (e.kind() != Kind.UNREACHABLE) {
                throw e;
            }
            failed(e);
        }
        thread.start();
    }

    private void run() {
        while (pause()) {
            try {
                meta.orElseThrow().renew(host, record);
                problem = Optional.empty();
                chore.run();
            } catch (ControlPlaneException e) {
                failed(e);
            }
        }
    }

    private void failed(ControlPlaneException e) {
        String message = e.getMessage();
        if (!problem.equals(Optional.of(message))) {
            LOG.warn("{} is not registered and goes on trying each {} ms: {}", host, renewal.toMillis(), message);
        }
        problem = Optional.of(message);
    }

    private boolean pause() {
        long until = System.nanoTime() + renewal.toNanos();
        synchronized (wake) {
            try {
                for (long left = renewal.toNanos(); left > 0 && !ended; left = until - System.nanoTime()) {
                    wake.wait(Math.max(1, left / 1_000_000));
                }
            } catch (InterruptedException e) {
                return false;
            }
            return !ended;
        }
    }

    /** Stops renewing and tells the meta server, if it answers within this time. */
    public void end(Duration atMost) {
        synchronized (wake) {
            ended = true;
            wake.notifyAll();
        }
        if (thread.getState() == Thread.State.NEW) {
            return;
        }
        try {
            thread.join(Duration.ofSeconds(5));
            meta.orElseThrow().remove(host, record.epoch(), atMost);
        } catch (ControlPlaneException e) {
            LOG.debug("the lease of {} ends by itself: {}", host, e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
