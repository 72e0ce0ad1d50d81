package dev.rackcall.perf.crowd;

/** What a crowd shares the processors with. */
enum Surroundings {
    /** Nothing but the crowd itself. */
    PLAIN("");

    private final String suffix;

    Surroundings(String suffix) {
        this.suffix = suffix;
    }

    /** The end of the names of results. */
    String suffix() {
        return suffix;
    }
}
