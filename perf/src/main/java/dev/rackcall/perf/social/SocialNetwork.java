package dev.rackcall.perf.social;

import dev.rackcall.perf.harness.InParallel;
import dev.rackcall.perf.harness.Launch;
import dev.rackcall.perf.harness.MeasuredProcess;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.peers.GrpcCall;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;

/** The processes of all services, and one that makes requests. None is pinned. Confined to one thread. */
final class SocialNetwork implements AutoCloseable {
    /** A JVM uses one processor while it starts; those that start first may wait for others. */
    private static final int STARTERS = 3;
    /** protobuf's classes warn about the JVM's old access to memory, which they use. */
    private static final List<String> FLAGS = Stream.concat(
                    GrpcCall.FLAGS.stream(), Stream.of("--sun-misc-unsafe-memory-access=allow"))
            .toList();

    private final List<MeasuredProcess<ServerSide>> processes = Collections.synchronizedList(new ArrayList<>());
    private final MeasuredProcess<ServerSide> load;

    /** Starts the processes in a new directory. */
    SocialNetwork(SocialTransport transport, Path directory, Launch launch) {
        List<Callable<MeasuredProcess<ServerSide>>> starts = new ArrayList<>();
        for (SocialRole role : SocialRole.values()) {
            starts.add(() -> start(new SocialSides(transport, List.of(role)), directory, launch));
        }
        starts.add(() -> start(new SocialSides(transport, List.of()), directory, launch));
        try {
            load = InParallel.run(STARTERS, starts).getLast();
        } catch (RuntimeException e) {
            close();
            throw e;
        }
    }

    private MeasuredProcess<ServerSide> start(SocialSides sides, Path directory, Launch launch) throws IOException {
        Subject subject = Subject.of("social-" + sides, 0, "", sides).withFlags(FLAGS);
        MeasuredProcess<ServerSide> process = MeasuredProcess.server(subject, directory, launch);
        processes.add(process);
        return process;
    }

    /** Fills the timelines and lets the JVMs compile; see {@link LoadGenerator#warmUp}. */
    long warmUp(long most) {
        return load.ask(most, side -> ((LoadGenerator) side).warmUp(most));
    }

    /** Makes requests at this rate. */
    LoadGenerator.Load load(double perSecond, long nanos) {
        Duration before = processorTime();
        return load.ask(nanos + LoadGenerator.BOUND_NANOS, side -> ((LoadGenerator) side).run(perSecond, nanos))
                .with(processorTime().minus(before));
    }

    private Duration processorTime() {
        return processes.stream().map(MeasuredProcess::processorTime).reduce(Duration.ZERO, Duration::plus);
    }

    @Override
    public void close() {
        processes.parallelStream().forEach(MeasuredProcess::close);
    }
}
