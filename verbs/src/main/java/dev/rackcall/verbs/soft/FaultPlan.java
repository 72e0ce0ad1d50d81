package dev.rackcall.verbs.soft;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** What goes wrong on a software device, for tests; may be changed while it works. Any thread may use it. */
public final class FaultPlan {
    private final Random random;
    private final List<SoftContext> contexts = new CopyOnWriteArrayList<>();
    private final AtomicInteger completionsToLose = new AtomicInteger();
    private volatile long latencyNanos;
    private volatile double datagramLoss;
    private volatile Runnable insideAtomics = () -> {};
    private final AtomicBoolean portDown = new AtomicBoolean();

    private FaultPlan(long seed) {
        random = new Random(seed);
    }

    /** Nothing goes wrong. */
    public static FaultPlan none() {
        return withSeed(0);
    }

    /** Nothing goes wrong yet; what is left to chance follows this seed. */
    public static FaultPlan withSeed(long seed) {
        return new FaultPlan(seed);
    }

    /** Holds each message and each answer back for this time before it leaves the device; exact to about a millisecond. */
    public FaultPlan latency(Duration oneWay) {
        if (oneWay.isNegative() || oneWay.toSeconds() > 60) {
            throw new IllegalArgumentException("a latency of " + oneWay + "; choose 0 to 60 s");
        }
        latencyNanos = oneWay.toNanos();
        return this;
    }

    /** Loses this share of the datagrams that are sent, 0 to 1. */
    public FaultPlan datagramLoss(double share) {
        if (!(share >= 0 && share <= 1)) {
            throw new IllegalArgumentException("a loss of " + share + "; choose 0 to 1");
        }
        datagramLoss = share;
        return this;
    }

    /** Loses the next completions (any status) of the device, as a broken driver would. */
    public FaultPlan loseCompletions(int count) {
        completionsToLose.set(count);
        return this;
    }

    /**
     * Cuts all TCP connections of the device at once. Requests that were sent over them and not answered fail with RETRY_EXCEEDED; what was
     * not sent yet, or refused for want of a receive request, may go over a new connection.
     *
     * @return how many were cut
     */
    public int cutConnections() {
        return contexts.stream().mapToInt(SoftContext::cutConnections).sum();
    }

    /**
     * Takes the device's port down until {@link #portUp}, as pulling its cable does: its state says so, a PORT_ERROR is raised, all connections end as by
     * {@link #cutConnections}, and no new one comes about, in either direction. Does nothing if it is down.
     */
    public FaultPlan portDown() {
        if (portDown.compareAndSet(false, true)) {
            contexts.forEach(SoftContext::portWentDown);
        }
        return this;
    }

    /** Brings the port up again, which raises a PORT_ACTIVE. Connections are made anew when they are needed. Does nothing if it is up. */
    public FaultPlan portUp() {
        if (portDown.compareAndSet(true, false)) {
            contexts.forEach(SoftContext::portCameUp);
        }
        return this;
    }

    /**
     * Runs this whenever the device, doing an atomic on its memory, has read the word and not yet written it: what a program does to the word meanwhile gets
     * lost, as on hardware, but by intention instead of by bad luck. It runs on a thread of the device, under its lock, and must not wait for the device.
     */
    public FaultPlan insideAtomics(Runnable action) {
        insideAtomics = Objects.requireNonNull(action, "action");
        return this;
    }

    void enterAtomic() {
        insideAtomics.run();
    }

    void attach(SoftContext context) {
        contexts.add(context);
    }

    void detach(SoftContext context) {
        contexts.remove(context);
    }

    boolean isPortDown() {
        return portDown.get();
    }

    long latencyNanos() {
        return latencyNanos;
    }

    boolean losesDatagram() {
        double share = datagramLoss;
        if (share == 0) {
            return false;
        }
        synchronized (random) {
            return random.nextDouble() < share;
        }
    }

    boolean losesCompletion() {
        return completionsToLose.get() > 0 && completionsToLose.getAndDecrement() > 0;
    }
}
