package dev.rackcall.perf;

import dev.rackcall.rpc.Isolation;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** A well-behaved client's calls (a snapshot of one page each) beside nobody, beside a client that calls as fast as it can, and beside one that attacks. */
final class NeighbourSubject extends Subject {
    /** What is measured. */
    static final IsolationSubject CALL = new IsolationSubject(Isolation.SNAPSHOT, 1, IsolationSubject.Use.TOUCH);

    private static final String PREFIX = "neighbour-";

    /** Who else is a client of the server. */
    enum Neighbour {
        NONE("none", "no other client"),
        HONEST("honest", "another client calls as fast as it can"),
        HOSTILE(
                "hostile",
                "another client sends random requests and writes at random into its memory, and connects anew when it is hung up on");

        private final String word;
        private final String what;

        Neighbour(String word, String what) {
            this.word = word;
            this.what = what;
        }
    }

    private final Neighbour neighbour;

    NeighbourSubject(Neighbour neighbour) {
        super(PREFIX + neighbour.word, CALL.bytes());
        this.neighbour = neighbour;
    }

    @Override
    Target target() {
        return Target.ISOLATION;
    }

    @Override
    String group() {
        return "neighbour";
    }

    @Override
    String floor() {
        return PREFIX + Neighbour.NONE.word;
    }

    @Override
    String settings() {
        return CALL.settings() + "; " + neighbour.what + ", as a process without a processor of its own";
    }

    /** What such a client does is news to a server's log ten times a second, and to nobody who reads a table. */
    @Override
    List<String> jvmFlags() {
        List<String> flags = new ArrayList<>(CALL.jvmFlags());
        if (neighbour == Neighbour.HOSTILE) {
            flags.add("-Dorg.slf4j.simpleLogger.log.dev.rackcall=error");
        }
        return flags;
    }

    @Override
    boolean spins() {
        return true;
    }

    @Override
    ServerSide serve(Path directory) throws IOException {
        ServerSide server = CALL.serve(directory);
        try {
            Optional<Process> beside = start(directory);
            beside.ifPresent(process -> tell(process, "go"));
            return new Side(server, beside);
        } catch (IOException | RuntimeException e) {
            server.close();
            throw e;
        }
    }

    private Optional<Process> start(Path directory) throws IOException {
        return switch (neighbour) {
            case NONE -> Optional.empty();
            case HONEST -> Optional.of(ChildJvm.beside(HonestNeighbour.class, directory.toString()));
            case HOSTILE ->
                Optional.of(ChildJvm.beside(
                        HostileNeighbour.class,
                        IsolationSubject.runtime(directory).toString(),
                        IsolationSubject.CHANNEL));
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
    ClientSide connect(Path directory) throws Exception {
        return CALL.connect(directory);
    }

    /** How the 99th percentile beside somebody is to that beside nobody. */
    static List<Result> withRatios(List<Result> results) {
        Optional<Result> alone = results.stream()
                .filter(result -> result.name().equals(PREFIX + Neighbour.NONE.word))
                .findFirst();
        if (alone.isEmpty()) {
            return results;
        }
        double base = Math.max(1, alone.get().p99Ns());
        return results.stream()
                .map(result ->
                        result.name().startsWith(PREFIX) ? result.with("p99_ratio", result.p99Ns() / base) : result)
                .toList();
    }

    /** Server and neighbour; only that in turn is awake. */
    private record Side(ServerSide server, Optional<Process> beside) implements ServerSide {
        @Override
        public void pause() {
            beside.ifPresent(process -> tell(process, "pause"));
            server.pause();
        }

        @Override
        public void resume() {
            server.resume();
            beside.ifPresent(process -> tell(process, "go"));
        }

        @Override
        public void close() {
            beside.ifPresent(Process::destroyForcibly);
            server.close();
        }
    }
}
