package dev.rackcall.perf.crowd;

import dev.rackcall.perf.harness.Launch;
import dev.rackcall.perf.harness.MeasuredProcess;
import dev.rackcall.perf.harness.Order;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.harness.Workspace;
import java.io.IOException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/** The burners of all surroundings. They start when they are first needed, and compute only beside a measurement. */
final class Burners implements AutoCloseable {
    private final Workspace workspace;
    private final Map<Surroundings, List<MeasuredProcess<ServerSide>>> started = new EnumMap<>(Surroundings.class);

    Burners(Workspace workspace) {
        this.workspace = workspace;
    }

    /** Runs a measurement while the burners of these surroundings compute. */
    CrowdRun beside(Surroundings surroundings, Supplier<CrowdRun> measurement) throws IOException {
        start(surroundings);
        tell(surroundings, side -> {
            side.resume();
            return true;
        });
        try {
            return measurement.get();
        } finally {
            tell(surroundings, side -> {
                side.pause();
                return true;
            });
        }
    }

    private void start(Surroundings surroundings) throws IOException {
        if (!started.containsKey(surroundings)) {
            List<MeasuredProcess<ServerSide>> processes = new ArrayList<>();
            started.put(surroundings, processes);
            for (Burner burner : surroundings.burners()) {
                Subject subject = Subject.of("burner", 0, "", burner);
                processes.add(MeasuredProcess.server(subject, workspace.newPart(), Launch.asUsersDo()));
            }
        }
    }

    private void tell(Surroundings surroundings, Order<ServerSide, Boolean> order) {
        started.get(surroundings).forEach(process -> process.ask(order));
    }

    @Override
    public void close() {
        started.values().forEach(processes -> processes.forEach(MeasuredProcess::close));
    }
}
