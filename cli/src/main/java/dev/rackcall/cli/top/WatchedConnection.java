package dev.rackcall.cli.top;

import dev.rackcall.rpc.shm.view.ArenaReading;
import dev.rackcall.rpc.shm.view.ConnectionReading;
import dev.rackcall.rpc.shm.view.InvalidMemoryException;
import dev.rackcall.rpc.shm.view.ObservedConnection;
import dev.rackcall.rpc.shm.view.TimeCounts;
import dev.rackcall.rpc.shm.view.WaitReading;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/**
 * A connection and what was seen of it in the present interval. The mean time to an answer comes from Little's law: it is
 * the mean number of requests in flight, divided by their rate. Percentiles come from the calls that the client times. For
 * one thread.
 */
final class WatchedConnection implements AutoCloseable {
    /** Fewer requests seen in flight say too little of how long one takes. */
    private static final int FEW_SIGHTINGS = 5;

    /** Percentiles are of at least so many timed calls, if need be of several intervals or of all. */
    private static final int FEW_TIMED = 20;

    private final Optional<ObservedConnection> memory;
    private final String defect;
    private Optional<ConnectionReading> first = Optional.empty();
    private Optional<ConnectionReading> last = Optional.empty();
    private Optional<String> problem = Optional.empty();
    /** The counts before the calls that are being collected for the next percentiles. */
    private Optional<TimeCounts> before = Optional.empty();
    /** The last calls that were enough for percentiles. */
    private Optional<TimeCounts> enough = Optional.empty();

    private long firstNanos;
    private long lastNanos;
    private long samples;
    private long sightings;

    private WatchedConnection(Optional<ObservedConnection> memory, String defect) {
        this.memory = memory;
        this.defect = defect;
    }

    static WatchedConnection of(ObservedConnection memory) {
        return new WatchedConnection(Optional.of(memory), "");
    }

    /** Memory that is no connection's, although its name says so. */
    static WatchedConnection invalid(String why) {
        return new WatchedConnection(Optional.empty(), why);
    }

    boolean isOpen() {
        return memory.isPresent();
    }

    /** Begins an interval with the last reading of the one before. */
    void begin() {
        Optional<TimeCounts> collected = timed().filter(WatchedConnection::isEnough);
        boolean wasIdle = rate() <= 0;
        first = problem.isEmpty() ? last : Optional.empty();
        if (first.isEmpty()) {
            enough = Optional.empty();
        } else if (collected.isPresent()) {
            enough = collected;
        }
        if (first.isEmpty() || collected.isPresent() || wasIdle) {
            before = first.map(ConnectionReading::times);
        }
        firstNanos = lastNanos;
        problem = Optional.empty();
        samples = 0;
        sightings = 0;
    }

    void sample() {
        if (memory.isEmpty()) {
            problem = Optional.of(defect);
            return;
        }
        try {
            take(memory.get().read());
        } catch (InvalidMemoryException e) {
            problem = Optional.of(e.getMessage());
        } catch (IOException e) {
            problem = Optional.of("it cannot be read: " + e.getMessage());
        }
    }

    private void take(ConnectionReading reading) {
        long now = System.nanoTime();
        if (last.isPresent() && reading.requests() < last.get().requests()) {
            problem = Optional.of(
                    "its count of requests went back from " + last.get().requests() + " to " + reading.requests());
        }
        if (first.isEmpty()) {
            first = Optional.of(reading);
            firstNanos = now;
            before = Optional.of(reading.times());
        }
        last = Optional.of(reading);
        lastNanos = now;
        samples++;
        sightings += reading.inFlight();
    }

    /** Why the memory makes no sense; empty if it does. */
    Optional<String> problem() {
        return problem;
    }

    /** The last reading; empty if there is none or it makes no sense. */
    Optional<ConnectionReading> reading() {
        return problem.isEmpty() ? last : Optional.empty();
    }

    /** Requests in a second of this interval. */
    double rate() {
        if (first.isEmpty() || last.isEmpty() || lastNanos - firstNanos <= 0) {
            return 0;
        }
        return (last.get().requests() - first.get().requests()) * 1e9 / (lastNanos - firstNanos);
    }

    /** How often threads waited in a second of this interval. */
    TopReport.WaitRates waits() {
        if (first.isEmpty() || last.isEmpty() || lastNanos - firstNanos <= 0) {
            return TopReport.WaitRates.NONE;
        }
        WaitReading waited = last.get().waits().since(first.get().waits());
        double seconds = (lastNanos - firstNanos) / 1e9;
        return new TopReport.WaitRates(
                waited.yielded() / seconds,
                waited.slept() / seconds,
                waited.slots() / seconds,
                waited.pauses() / seconds);
    }

    /** The request arena and the reply arena; empty if they cannot be read. */
    List<ArenaReading> arenas() {
        if (memory.isEmpty() || reading().isEmpty()) {
            return List.of();
        }
        try {
            return memory.get().arenas();
        } catch (IOException e) {
            return List.of();
        }
    }

    /** Mean number of requests in flight in this interval. */
    double inFlight() {
        return samples == 0 ? 0 : (double) sightings / samples;
    }

    /** Mean microseconds from a request to its answer; empty if too few requests were seen in flight. */
    Optional<Double> meanMicros() {
        double rate = rate();
        return sightings < FEW_SIGHTINGS || rate <= 0 ? Optional.empty() : Optional.of(inFlight() / rate * 1e6);
    }

    /**
     * A percentile of the time that calls took, in microseconds. Empty if the client sent nothing in this interval, or
     * too few calls were timed since the connection began.
     *
     * @param part 0.5 for the median
     */
    Optional<Double> percentileMicros(double part) {
        if (rate() <= 0) {
            return Optional.empty();
        }
        return timed().filter(WatchedConnection::isEnough)
                .or(() -> enough)
                .or(() -> reading().map(ConnectionReading::times).filter(WatchedConnection::isEnough))
                .map(times -> times.percentile(part).orElseThrow() / 1e3);
    }

    private static boolean isEnough(TimeCounts times) {
        return times.timed() >= FEW_TIMED;
    }

    private Optional<TimeCounts> timed() {
        return before.flatMap(earlier -> reading().map(now -> now.times().since(earlier)));
    }

    @Override
    public void close() throws IOException {
        if (memory.isPresent()) {
            memory.get().close();
        }
    }
}
