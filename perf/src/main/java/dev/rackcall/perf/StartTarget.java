package dev.rackcall.perf;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/**
 * Time from starting a client's JVM to its first reply, against a server that runs and has served before. The client's JVM gets every flag
 * of this one, so also the class cache that the launcher keeps.
 */
final class StartTarget {
    private static final int STARTS = 5;
    private static final Duration BOUND = Duration.ofSeconds(60);

    private final Workspace workspace;

    StartTarget(Workspace workspace) {
        this.workspace = workspace;
    }

    List<Result> measure(Subject subject) throws IOException {
        Path directory = workspace.newPart();
        LatencyRecorder recorder = new LatencyRecorder();
        long began = System.nanoTime();
        try (ChildJvm server = ChildJvm.start(ChildRole.SERVER, subject, directory, BenchChild.NO_CPU)) {
            firstCall(subject, directory); // the server loads its classes
            began = System.nanoTime();
            for (int i = 0; i < STARTS; i++) {
                recorder.record(firstCall(subject, directory));
            }
            if (!server.isAlive()) {
                throw new BenchFailure(subject.name() + ": the server side ended during the run");
            }
        }
        recorder.add(STARTS, System.nanoTime() - began);
        return List.of(Result.of(subject.name(), Target.START, 1, subject.bytes(), recorder.measurement()));
    }

    private static long firstCall(Subject subject, Path directory) throws IOException {
        List<String> flags = ManagementFactory.getRuntimeMXBean().getInputArguments();
        long start = System.nanoTime();
        try (ChildJvm client = ChildJvm.launch(ChildRole.FIRST_CALL, subject, directory, BenchChild.NO_CPU, flags)) {
            // On Linux nanoTime() is the same clock in every process.
            return Long.parseLong(client.await(BOUND, BenchChild.OK)) - start;
        }
    }
}
