package dev.rackcall.perf;

import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** One thing that is measured: how its server side is started and how its client side calls. Stateless; one instance per name. */
abstract class Subject {
    private final String name;
    private final int bytes;

    /**
     * @param name what results are listed under
     * @param bytes payload of one request, in bytes
     */
    Subject(String name, int bytes) {
        this.name = name;
        this.bytes = bytes;
    }

    final String name() {
        return name;
    }

    final int bytes() {
        return bytes;
    }

    /** The target that measures its round trips. */
    Target target() {
        return Target.RTT;
    }

    /** Whether that target measures its round trips. */
    boolean isOf(Target asked) {
        return target() == asked;
    }

    /** What this host lacks for it; empty if it can be measured here. */
    Optional<String> missing() {
        return Optional.empty();
    }

    /** Subjects of a target that take turns and have the same group take turns. */
    String group() {
        return "";
    }

    /** The subject that this one's round trips are compared with, turn by turn, if it is of the same group. */
    String floor() {
        return "raw-pingpong";
    }

    /** How often one timed call does what is measured; more than once where reading the clock would take most of the time. */
    int repetitions() {
        return 1;
    }

    /** What was chosen for this subject (transport, threads, waiting, payload), in one line for the report. */
    abstract String settings();

    /** Flags that this subject's JVMs need beside those of the coordinator. */
    List<String> jvmFlags() {
        return List.of();
    }

    /** False if the client side also holds the server side, so that only one process is needed. */
    boolean crossProcess() {
        return true;
    }

    /** Whether both sides can be in one process, though they are measured in two. */
    boolean callsWithinOneProcess() {
        return true;
    }

    /** Whether one thread of each side spins, so that each side gets a core of its own where there are two. */
    boolean spins() {
        return false;
    }

    /** Whether it takes turns with others of its group, so that they can be compared turn by turn. */
    boolean takesTurns() {
        return spins();
    }

    /** Whether the subject can have several calls in flight, so that it takes part in throughput runs. */
    boolean pipelines() {
        return false;
    }

    /** Whether one server side takes many connections, so that the subject takes part in connect and idle runs. */
    boolean takesManyConnections() {
        return false;
    }

    /** Starts the server side; it answers calls when this returns. */
    abstract ServerSide serve(Path directory) throws Exception;

    /** Connects the client side to the server side that was started with the same directory. */
    abstract ClientSide connect(Path directory) throws Exception;
}
