package dev.rackcall.cp.meta;

import dev.rackcall.cp.ControlPlaneException;
import dev.rackcall.cp.ControlPlaneException.Kind;
import dev.rackcall.cp.HostId;
import dev.rackcall.cp.table.HostRecord;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Keeps a host registered at the meta server, even if the server restarts. It has a thread of its own. */
public final class Registration {
    private static final Logger LOG = LoggerFactory.getLogger(Registration.class);

    private final HostId host;
    private final HostRecord record;
    private final Optional<MetaClient> meta;
    private final Duration renewal;
    private final Runnable chore;
    private Optional<ScheduledExecutorService> renewing = Optional.empty();
    private volatile Optional<String> problem = Optional.empty();

    /** @param chore runs after each renewal */
    public Registration(HostId host, HostRecord record, Optional<MetaClient> meta, Duration renewal, Runnable chore) {
        this.chore = chore;
        this.host = host;
        this.record = record;
        this.meta = meta;
        this.renewal = renewal;
    }

    public Optional<String> problem() {
        return problem;
    }

    /** @throws ControlPlaneException if the meta server refuses; if it does not reply, a thread keeps trying */
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
        ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(
                Thread.ofPlatform().daemon().name("rackcall-register-" + host).factory());
        ScheduledFuture<?> _ =
                timer.scheduleWithFixedDelay(this::renew, renewal.toNanos(), renewal.toNanos(), TimeUnit.NANOSECONDS);
        renewing = Optional.of(timer);
    }

    private void renew() {
        try {
            meta.orElseThrow().renew(host, record);
            problem = Optional.empty();
            chore.run();
        } catch (ControlPlaneException e) {
            failed(e);
        } catch (RuntimeException e) {
            // An exception would end the renewals.
            LOG.warn("{} keeps renewing after a failure", host, e);
        }
    }

    private void failed(ControlPlaneException e) {
        String message = host.nameIn(e.getMessage());
        if (!problem.equals(Optional.of(message))) {
            LOG.warn("{} is not registered and keeps trying each {} ms: {}", host, renewal.toMillis(), message);
        }
        problem = Optional.of(message);
    }

    /** Stops renewing, and removes the host from the meta server if it replies within this time. */
    public void end(Duration atMost) {
        if (renewing.isEmpty()) {
            return;
        }
        renewing.get().shutdown();
        try {
            boolean _ = renewing.get().awaitTermination(5, TimeUnit.SECONDS);
            meta.orElseThrow().remove(host, record.epoch(), atMost);
        } catch (ControlPlaneException e) {
            LOG.debug("the lease of {} ends by itself: {}", host, e.getMessage());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
