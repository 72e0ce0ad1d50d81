package dev.rackcall.perf.isolation;

import dev.rackcall.perf.harness.ClientSide;
import dev.rackcall.perf.harness.MeasuredProcess;
import dev.rackcall.perf.harness.ServerSide;
import dev.rackcall.perf.harness.Sides;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Result;
import dev.rackcall.rpc.Isolation;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;

/**
 * A well-behaved client's calls (a snapshot of one page each) alone, beside a client that calls as fast as it can, and
 * beside one that attacks.
 *
 * @param neighbour the other client of the server
 */
public record NeighbourCall(Neighbour neighbour) implements Sides {
    /** The measured call. */
    static final Subject CALL =
            IsolationCall.subject(Isolation.SNAPSHOT, 1, IsolationCall.Use.TOUCH, IsolationCall.Kind.PLAIN);

    private static final String PREFIX = "neighbour-";

    /** The other client of the server. */
    public enum Neighbour {
        NONE("no other client"),
        /** A well-behaved one. */
        HONEST("another client calls as fast as it can"),
        /** One that attacks. */
        HOSTILE(
                "another client sends random requests and writes at random into its memory, and connects anew when the server closes its connection");

        private final String what;

        Neighbour(String what) {
            this.what = what;
        }

        private String subject() {
            return PREFIX + name().toLowerCase(Locale.ROOT);
        }
    }

    static void addTo(List<Subject> all) {
        for (Neighbour neighbour : Neighbour.values()) {
            List<String> flags = new ArrayList<>(IsolationCall.FLAGS);
            if (neighbour == Neighbour.HOSTILE) {
                // The server warns about the attacks ten times a second, which no reader of a table needs.
                flags.add("-Dorg.slf4j.simpleLogger.log.dev.rackcall=error");
            }
            String settings = CALL.settings() + "; " + neighbour.what + ", as a process without a processor of its own";
            all.add(Subject.of(
                            neighbour.subject(),
                            CALL.bytes(),
                            settings,
                            new NeighbourCall(neighbour),
                            Subject.Trait.SPINS)
                    .in(BenchTarget.ISOLATION, "neighbour", Neighbour.NONE.subject())
                    .withFlags(flags));
        }
    }

    /** Adds the ratio of the 99th percentile beside a neighbour to that without one. */
    public static List<Result> withRatios(List<Result> results) {
        Optional<Result> alone = results.stream()
                .filter(result -> result.name().equals(Neighbour.NONE.subject()))
                .findFirst();
        if (alone.isEmpty()) {
            return results;
        }
        double base = Math.max(1, alone.get().figure("p99_ns").orElseThrow());
        return results.stream()
                .map(result -> result.name().startsWith(PREFIX)
                        ? result.with("p99_ratio", result.figure("p99_ns").orElseThrow() / base)
                        : result)
                .toList();
    }

    @Override
    public ServerSide serve(Path directory) throws Exception {
        ServerSide server = CALL.sides().serve(directory);
        try {
            Optional<Process> beside = start(directory);
            beside.ifPresent(process -> tell(process, NeighbourProcess.GO));
            return new Side(server, beside);
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    private Optional<Process> start(Path directory) throws IOException {
        return switch (neighbour) {
            case NONE -> Optional.empty();
            case HONEST -> Optional.of(MeasuredProcess.startBeside(HonestNeighbour.class, directory.toString()));
            case HOSTILE ->
                Optional.of(MeasuredProcess.startBeside(
                        HostileNeighbour.class, IsolationCall.runtime(directory).toString(), BenchVault.CHANNEL));
        };
    }

    private static void tell(Process process, String line) {
        try {
            BufferedWriter out = process.outputWriter();
            out.write(line);
            out.newLine();
            out.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("the neighbour has ended", e);
        }
    }

    @Override
    public ClientSide connect(Path directory) throws Exception {
        return CALL.sides().connect(directory);
    }

    /** Server and neighbour; both sleep while another subject has its turn. */
    private record Side(ServerSide server, Optional<Process> beside) implements ServerSide {
        @Override
        public void pause() {
            beside.ifPresent(process -> tell(process, "pause"));
            server.pause();
        }

        @Override
        public void resume() {
            server.resume();
            beside.ifPresent(process -> tell(process, NeighbourProcess.GO));
        }

        @Override
        public void close() {
            beside.ifPresent(Process::destroyForcibly);
            server.close();
        }
    }
}
