package dev.rackcall.samples.demo;

import java.net.URI;
import java.nio.file.Path;
import java.util.Optional;

/**
 * What the rack demo's conductor and its hosts say to each other: {@link Setup} as a host's argument, and on its standard output {@link #READY},
 * {@link #SAMPLE} with a {@link Sample}, or {@link #FAILED} with a sentence. A host ends with its standard input.
 */
final class RackMessages {
    static final String READY = "ready";
    static final String SAMPLE = "sample ";
    static final String FAILED = "failed ";

    /** Orders to a host that has a pool: to do without it, and to use it again. */
    static final String LEAVE_MEMORY = "leave memory";

    static final String TAKE_MEMORY = "take memory";

    private RackMessages() {}

    /** What a host does. */
    enum Role {
        /** Serves the store. */
        SERVE,
        /** Puts all documents into it, then searches. */
        FILL_AND_SEARCH,
        SEARCH
    }

    /**
     * What a host is told at its start.
     *
     * @param workplace of the whole demo, which a host removes if its conductor is dead
     * @param runtime the host's runtime directory: what stands for its memory, unless it has a pool
     * @param pool memory that it shares with other machines
     * @param listen where it serves those that share no memory with it
     * @param meta the control plane's meta server, for an agent of the process's own; if empty, the machine's agent process is used if there is one. Without either there are no virtual queues, and each connection has a queue pair of its own
     */
    record Setup(
            Role role,
            String host,
            Path workplace,
            Path runtime,
            URI directory,
            Optional<Device> pool,
            URI listen,
            Optional<String> meta,
            int count,
            long seed) {}

    /**
     * A device that is the memory of several machines.
     *
     * @param number of the machine among them
     */
    record Device(Path path, int number) {}

    /**
     * What a host has done since its last sample.
     *
     * @param server the host that it talks to
     * @param over by which way
     * @param memory whether that is memory
     * @param searches that found what they had to find
     * @param failed searches that failed or found nothing
     * @param problem what the last of those ended with
     */
    record Sample(
            String host,
            String server,
            String over,
            boolean memory,
            long searches,
            long failed,
            String problem,
            long p50Nanos,
            long p99Nanos,
            double seconds) {}
}
