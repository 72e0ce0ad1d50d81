package dev.rackcall.cli.view;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/** What the page shows of other hosts. Any thread may ask; nothing waits for them. */
interface RackView {
    /** What a directory says; empty without one. */
    Optional<RackReport> report();

    /** What the agents of other hosts have told last. */
    default List<OtherHost> hosts() {
        return List.of();
    }

    /** The last minutes of other hosts, by their keys. */
    default Map<String, ViewSeries> series() {
        return Map.of();
    }

    /**
     * Another host.
     *
     * @param key of its agent, unique
     * @param isOld whether its agent has told that before a time in which no page was open, and nothing since
     */
    record OtherHost(String key, ViewState state, boolean isOld) {}
}
