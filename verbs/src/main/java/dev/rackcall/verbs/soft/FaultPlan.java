package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.soft.wire.Faults;
import java.time.Duration;
import java.util.Objects;

/**
 * Faults that a software device injects, for tests. It may be changed while the device works. Any thread may use it.
 */
public final class FaultPlan {
    private final Faults faults;

    private FaultPlan(long seed) {
        faults = new Faults(seed);
    }

    /** No faults. */
    public static FaultPlan none() {
        return withSeed(0);
    }

    /** No faults yet; random choices follow this seed. */
    public static FaultPlan withSeed(long seed) {
        return new FaultPlan(seed);
    }

    Faults faults() {
        return faults;
    }

    /**
     * Holds each message and each answer back for this time before it leaves the device; exact to about a millisecond.
     */
    public FaultPlan latency(Duration oneWay) {
        if (oneWay.isNegative() || oneWay.toSeconds() > 60) {
            throw new IllegalArgumentException("a latency of " + oneWay + "; choose 0 to 60 s");
        }
        faults.latencyNanos(oneWay.toNanos());
        return this;
    }

    /** Loses this share of the sent datagrams, 0 to 1. */
    public FaultPlan datagramLoss(double share) {
        if (!(share >= 0 && share <= 1)) {
            throw new IllegalArgumentException("a loss of " + share + "; choose 0 to 1");
        }
        faults.datagramLoss(share);
        return this;
    }

    /** Loses the next completions of the device, whatever their status, as a broken driver would. */
    public FaultPlan loseCompletions(int count) {
        faults.loseCompletions(count);
        return this;
    }

    /**
     * Cuts all TCP connections of the device. Requests in flight fail with RETRY_EXCEEDED. Requests that were not sent
     * yet, or were refused because no receive request was posted, may use a new connection.
     *
     * @return the number of connections
     */
    public int cutConnections() {
        return faults.cutLinks();
    }

    /**
     * Takes the device's port down until {@link #portUp}, as pulling its cable does: its state is DOWN, it raises a
     * PORT_ERROR, all connections end as by {@link #cutConnections}, and no new one is made in either direction. Does
     * nothing if the port is down.
     */
    public FaultPlan portDown() {
        faults.portDown(true);
        return this;
    }

    /**
     * Brings the port up again and raises a PORT_ACTIVE. Connections are made again when they are needed. Does nothing
     * if the port is up.
     */
    public FaultPlan portUp() {
        faults.portDown(false);
        return this;
    }

    /**
     * Runs this action in each atomic of the device, between its load and its store. A store by the program in between
     * is lost, which on hardware happens only by chance. The action runs on a thread of the device, under its lock, and
     * must not wait for the device.
     */
    public FaultPlan insideAtomics(Runnable action) {
        faults.insideAtomics(Objects.requireNonNull(action, "action"));
        return this;
    }
}
