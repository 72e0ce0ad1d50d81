package dev.rackcall.perf.harness;

import dev.rackcall.perf.result.Figures;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.DoubleBinaryOperator;
import java.util.stream.IntStream;

/**
 * The two processes of one subject, connected and ready; a subject in one process has only the client's. Several
 * subjects can take turns: between its turns a pair's server side is paused.
 */
public final class SubjectPair implements AutoCloseable {
    private final Subject subject;
    private final Optional<MeasuredProcess<ServerSide>> server;
    private final MeasuredProcess<MeasuredClient> client;
    private final List<Long> medians = new ArrayList<>();
    private WarmUp.Outcome warmUp = new WarmUp.Outcome(0, false, 0);

    private SubjectPair(
            Subject subject, Optional<MeasuredProcess<ServerSide>> server, MeasuredProcess<MeasuredClient> client) {
        this.subject = subject;
        this.server = server;
        this.client = client;
    }

    /** Starts the processes; only subjects that spin are pinned. */
    public static SubjectPair start(Subject subject, Path directory, Cores chosen) throws IOException {
        Cores cores = subject.has(Subject.Trait.SPINS) ? chosen : Cores.UNPINNED;
        Optional<MeasuredProcess<ServerSide>> server = subject.has(Subject.Trait.ONE_PROCESS)
                ? Optional.empty()
                : Optional.of(MeasuredProcess.server(subject, directory, cores.server()));
        try {
            return new SubjectPair(
                    subject, server, MeasuredProcess.client(subject, directory, Launch.on(cores.client())));
        } catch (IOException | RuntimeException e) {
            server.ifPresent(MeasuredProcess::close);
            throw e;
        }
    }

    /** Starts the processes, and pauses the server side. */
    public static SubjectPair startPaused(Subject subject, Path directory, Cores cores) throws IOException {
        SubjectPair pair = start(subject, directory, cores);
        try {
            pair.pause();
            return pair;
        } catch (RuntimeException e) {
            pair.close();
            throw e;
        }
    }

    public Subject subject() {
        return subject;
    }

    public MeasuredProcess<MeasuredClient> client() {
        return client;
    }

    /** The process that serves; empty if that is the client's. */
    public Optional<MeasuredProcess<ServerSide>> server() {
        return server;
    }

    public WarmUp.Outcome warmUp() {
        return warmUp;
    }

    /** Stops the server side's use of the processor. */
    public void pause() {
        server.ifPresent(process -> process.ask(side -> {
            side.pause();
            return true;
        }));
    }

    /** Lets the server side answer again. */
    public void resume() {
        server.ifPresent(process -> process.ask(side -> {
            side.resume();
            return true;
        }));
    }

    /** Takes a turn: one order to the client, with the server side running. */
    public <T> T turn(long nanos, Order<MeasuredClient, T> order) {
        resume();
        T result = client.ask(nanos, order);
        pause();
        return result;
    }

    /** A turn of calls until the median settles. */
    public void warmUp(long mostNanos) {
        warmUp = turn(mostNanos, side -> side.warmUp(mostNanos));
    }

    /** A turn in a closed loop. */
    public void slice(long nanos) {
        medians.add(turn(nanos, side -> side.slice(nanos)).p50Ns());
    }

    /**
     * The median over all turns of this pair's p50 divided by the other's in the same round, so that both met the
     * machine in the same state.
     */
    public double ratioTo(SubjectPair other) {
        return overRounds(other, (own, others) -> own / Math.max(1, others));
    }

    /** The median over all turns of this pair's p50 minus the other's in the same round, in nanoseconds. */
    public double above(SubjectPair other) {
        return overRounds(other, (own, others) -> own - others);
    }

    private double overRounds(SubjectPair other, DoubleBinaryOperator comparison) {
        return Figures.median(IntStream.range(0, Math.min(medians.size(), other.medians.size()))
                .mapToDouble(round -> comparison.applyAsDouble(medians.get(round), other.medians.get(round)))
                .toArray());
    }

    @Override
    public void close() {
        try {
            client.close();
        } finally {
            server.ifPresent(MeasuredProcess::close);
        }
    }
}
