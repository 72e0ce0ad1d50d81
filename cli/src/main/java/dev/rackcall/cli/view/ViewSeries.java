package dev.rackcall.cli.view;

import java.util.List;
import java.util.Map;

/**
 * The numbers of the last minutes, as the page reads them when it begins.
 *
 * @param times in milliseconds, ascending
 * @param connections the numbers of each connection by its id, one for each time; null where there was none
 */
record ViewSeries(List<Long> times, Map<String, Numbers> connections) {
    /** The numbers of a connection. */
    record Numbers(List<Double> rate, List<Double> mean, List<Double> p50, List<Double> p99, List<Double> inFlight) {}
}
