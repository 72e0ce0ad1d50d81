package dev.rackcall.perf.crowd;

import java.time.Duration;
import java.util.Collections;
import java.util.List;

/** What a crowd shares the processors with, and how much of them it may use. */
enum Surroundings {
    /** Nothing but the crowd itself. */
    PLAIN("", List.of()),
    /** Two processes that compute all the time. */
    BURN2("-burn2", Collections.nCopies(2, new Burner(Duration.ZERO))),
    /** Three processes that compute and sleep in turns. */
    JOLT("-jolt", Collections.nCopies(3, new Burner(Duration.ofMillis(3)))),
    /** All processes may use the same processor only. */
    ONE("-one", List.of()),
    /** All processes together may use the time of one processor, on any. */
    QUOTA1("-quota1", List.of());

    private final String suffix;
    private final List<Burner> burners;

    Surroundings(String suffix, List<Burner> burners) {
        this.suffix = suffix;
        this.burners = burners;
    }

    /** The end of the names of results. */
    String suffix() {
        return suffix;
    }

    /** The processes beside the crowd. */
    List<Burner> burners() {
        return burners;
    }

    /** Whether the crowd's processes must be started under a limit. */
    boolean isLimited() {
        return this == ONE || this == QUOTA1;
    }
}
