package dev.rackcall.verbs.soft.wire;

import java.util.List;
import java.util.Random;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/** The faults that a device injects now, set by its {@code FaultPlan}. Any thread may use it. */
public final class Faults {
    /** A device that these faults apply to. */
    public interface Target {
        /** Ends all links; returns their number. */
        int cutLinks();

        /** {@link Faults#isPortDown} has become true. */
        void portWentDown();

        /** {@link Faults#isPortDown} has become false. */
        void portCameUp();
    }

    private final Random random;
    private final List<Target> targets = new CopyOnWriteArrayList<>();
    private final AtomicInteger completionsToLose = new AtomicInteger();
    private final AtomicBoolean portDown = new AtomicBoolean();
    private volatile long latencyNanos;
    private volatile double datagramLoss;
    private volatile Runnable insideAtomics = () -> {};

    public Faults(long seed) {
        random = new Random(seed);
    }

    public void attach(Target target) {
        targets.add(target);
    }

    public void detach(Target target) {
        targets.remove(target);
    }

    public void latencyNanos(long nanos) {
        latencyNanos = nanos;
    }

    /** Time for which each message is held back before it leaves. */
    public long latencyNanos() {
        return latencyNanos;
    }

    public void datagramLoss(double share) {
        datagramLoss = share;
    }

    /** Whether to lose the next datagram. */
    public boolean losesDatagram() {
        double share = datagramLoss;
        if (share == 0) {
            return false;
        }
        synchronized (random) {
            return random.nextDouble() < share;
        }
    }

    public void loseCompletions(int count) {
        completionsToLose.set(count);
    }

    /** Whether to lose the next completion. */
    public boolean losesCompletion() {
        return completionsToLose.get() > 0 && completionsToLose.getAndDecrement() > 0;
    }

    public void insideAtomics(Runnable action) {
        insideAtomics = action;
    }

    /** Runs in each atomic between its load and its store. */
    public void insideAtomic() {
        insideAtomics.run();
    }

    public int cutLinks() {
        return targets.stream().mapToInt(Target::cutLinks).sum();
    }

    public boolean isPortDown() {
        return portDown.get();
    }

    public void portDown(boolean down) {
        if (portDown.compareAndSet(!down, down)) {
            targets.forEach(down ? Target::portWentDown : Target::portCameUp);
        }
    }
}
