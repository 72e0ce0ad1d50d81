package dev.rackcall.perf.result;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.OptionalInt;

/**
 * The size from which sealing a scope costs no more than a snapshot of it, as this run measured it. {@code AUTO} finds
 * it by itself, from 1 MiB on.
 *
 * @param use what the caller does with the scope between its calls
 * @param fromPages the smallest measured number of pages from which a seal never costs more; empty if it costs more at
 *     the largest
 * @param largestPages the largest number of pages at which both were measured
 */
public record Crossing(
        String use,
        @JsonInclude(JsonInclude.Include.NON_ABSENT) OptionalInt fromPages,
        int largestPages) {
    private static final double PAGE = 4096;

    /** The crossing in one sentence. */
    public String sentence() {
        return "AUTO crossing, scopes " + use + " between calls: "
                + (fromPages.isPresent()
                        ? "a seal costs no more than a snapshot from " + fromPages.getAsInt() + " pages ("
                                + Figures.bytes(fromPages.getAsInt() * PAGE) + ") on"
                        : "up to " + largestPages + " pages a snapshot costs less than a seal");
    }
}
