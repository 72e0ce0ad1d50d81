package dev.rackcall.perf.targets;

import dev.rackcall.perf.harness.BenchFailure;
import dev.rackcall.perf.harness.Cores;
import dev.rackcall.perf.harness.LatencyRecorder;
import dev.rackcall.perf.harness.MeasuredProcess;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.Workspace;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Result;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * Time from starting a client's JVM to its first reply, against a server that runs and has served before. The client's
 * JVM gets every flag of this one, including the class cache that the launcher keeps.
 */
public record StartTarget(Workspace workspace) {
    private static final int STARTS = 5;

    public List<Result> measure(Subject subject) throws IOException {
        Path directory = workspace.newPart();
        LatencyRecorder recorder = new LatencyRecorder();
        try (MeasuredProcess<ServerSide> server = MeasuredProcess.server(subject, directory, Cores.UNPINNED.server())) {
            MeasuredProcess.firstCall(subject, directory); // the server loads its classes
            long began = System.nanoTime();
            for (int i = 0; i < STARTS; i++) {
                recorder.record(MeasuredProcess.firstCall(subject, directory));
            }
            recorder.add(STARTS, System.nanoTime() - began);
            if (!server.isAlive()) {
                throw new BenchFailure(subject.name() + ": the server side ended during the run");
            }
        }
        return List.of(Result.of(subject.name(), BenchTarget.START, 1, subject.bytes(), recorder.measurement()));
    }
}
