package dev.rackcall.perf;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** A subject's processes in a run in which several subjects take turns. Between its turns its server side is paused. */
final class Lane implements AutoCloseable {
    private static final Order PAUSE = Order.of(Order.Action.PAUSE);
    private static final Order RESUME = Order.of(Order.Action.RESUME);

    private final Subject subject;
    private final Pair pair;
    private final List<Long> medians = new ArrayList<>();
    private WarmUp.Outcome warmUp = new WarmUp.Outcome(0, false, 0, 0);

    private Lane(Subject subject, Pair pair) {
        this.subject = subject;
        this.pair = pair;
    }

    /** Starts the processes, and pauses. */
    static Lane start(Subject subject, Path directory, Cores cores) throws IOException {
        Lane lane = new Lane(subject, Pair.start(subject, directory, cores));
        try {
            lane.serverSide(PAUSE);
            return lane;
        } catch (RuntimeException e) {
            lane.close();
            throw e;
        }
    }

    /** Calls until the median settles. */
    void warmUp(long mostNanos) {
        warmUp = turn(Order.timed(Order.Action.WARM_UP, mostNanos), WarmUp.Outcome.class);
    }

    Subject subject() {
        return subject;
    }

    Pair pair() {
        return pair;
    }

    ChildJvm client() {
        return pair.client();
    }

    WarmUp.Outcome warmUp() {
        return warmUp;
    }

    /** Takes a turn: one order to the client, with the server side running. */
    <T> T turn(Order order, Class<T> answer) {
        serverSide(RESUME);
        T result = client().ask(order, answer);
        serverSide(PAUSE);
        return result;
    }

    /** A turn in a closed loop. */
    void slice(long nanos) {
        medians.add(
                turn(Order.timed(Order.Action.CLOSED, nanos), Measurement.class).p50Ns());
    }

    /**
     * The median over all turns of this lane's p50 divided by the other's in the same round, so that both saw the machine in the same state.
     */
    double ratioTo(Lane other) {
        int rounds = Math.min(medians.size(), other.medians.size());
        double[] ratios = new double[rounds];
        for (int round = 0; round < rounds; round++) {
            ratios[round] = (double) medians.get(round) / Math.max(1L, other.medians.get(round));
        }
        return Medians.of(ratios);
    }

    /** The median over all turns of this lane's p50 less the other's in the same round, in nanoseconds. */
    double above(Lane other) {
        int rounds = Math.min(medians.size(), other.medians.size());
        double[] differences = new double[rounds];
        for (int round = 0; round < rounds; round++) {
            differences[round] = medians.get(round) - (double) other.medians.get(round);
        }
        return Medians.of(differences);
    }

    void resume() {
        serverSide(RESUME);
    }

    private void serverSide(Order order) {
        pair.server().ifPresent(server -> server.ask(order, Boolean.class));
    }

    @Override
    public void close() {
        pair.close();
    }
}
