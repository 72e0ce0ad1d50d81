package dev.rackcall.perf.crowd;

import java.time.Duration;
import java.util.Collections;
import java.util.List;

/** What a crowd shares the processors with, and how much of them it may use. */
enum Surroundings {
    /** Nothing but the crowd itself. */
    PLAIN("", List.of(), Processes.SHARED),
    /** Two processes that compute all the time. */
    BURN2("-burn2", Collections.nCopies(2, new Burner(Duration.ZERO)), Processes.SHARED),
    /** Three processes that compute and sleep in turns. */
    JOLT("-jolt", Collections.nCopies(3, new Burner(Duration.ofMillis(3))), Processes.SHARED),
    /** All processes may use the same processor only. */
    ONE("-one", List.of(), Processes.LIMITED),
    /** All processes together may use the time of one processor, on any. */
    QUOTA1("-quota1", List.of(), Processes.LIMITED),
    /** A process that computes all the time; each of the crowd's has a nice value that is 10 higher. */
    NICE("-nice", List.of(new Burner(Duration.ZERO)), Processes.OWN),
    /** The crowd's processes are batch jobs ({@code SCHED_BATCH}): one that wakes up does not preempt another. */
    BATCH("-batch", List.of(), Processes.OWN),
    /** One more client process has 64 connections on which it never calls. */
    IDLE64("-idle64", List.of(), Processes.OWN);

    /** Which processes a crowd in these surroundings consists of. */
    private enum Processes {
        /** Those of other surroundings. */
        SHARED,
        /** Its own. */
        OWN,
        /** Its own, the same in all repeats, because they start and warm up slowly. */
        LIMITED
    }

    private final String suffix;
    private final List<Burner> burners;
    private final Processes processes;

    Surroundings(String suffix, List<Burner> burners, Processes processes) {
        this.suffix = suffix;
        this.burners = burners;
        this.processes = processes;
    }

    /** The end of the names of results. */
    String suffix() {
        return suffix;
    }

    /** The processes beside the crowd. */
    List<Burner> burners() {
        return burners;
    }

    /** Whether the crowd's processes cannot be those of other surroundings. */
    boolean hasOwnProcesses() {
        return processes != Processes.SHARED;
    }

    /** Whether all of the crowd's processes together have the time of one processor. */
    boolean isLimited() {
        return processes == Processes.LIMITED;
    }

    /** Whether it is only measured if its name is given: with all of them, the target takes much longer. */
    boolean isOnRequest() {
        return processes == Processes.OWN;
    }

    /** Idle connections. */
    int idleConnections() {
        return this == IDLE64 ? 64 : 0;
    }
}
