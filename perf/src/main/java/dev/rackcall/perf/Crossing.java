package dev.rackcall.perf;

import com.fasterxml.jackson.annotation.JsonInclude;
import dev.rackcall.rpc.Isolation;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalInt;
import java.util.TreeMap;

/**
 * From which size on sealing a scope costs no more than a snapshot of it, as this run has measured it. {@code AUTO} finds it out for itself, from 1 MiB on.
 *
 * @param use what the caller does with the scope between its calls
 * @param fromPages the smallest measured number of pages from which on the seal is never dearer; empty if it is dearer at the largest
 * @param largestPages the largest number of pages at which both were measured
 */
record Crossing(
        String use,
        @JsonInclude(JsonInclude.Include.NON_ABSENT) OptionalInt fromPages,
        int largestPages) {
    private static final List<IsolationSubject.Use> USES =
            List.of(IsolationSubject.Use.TOUCH, IsolationSubject.Use.WRITE);

    /** One for each use of which at least two sizes were measured in both modes. */
    static List<Crossing> of(List<Result> results) {
        List<Crossing> crossings = new ArrayList<>();
        for (IsolationSubject.Use use : USES) {
            Map<Integer, Boolean> sealIsCheaper = new TreeMap<>();
            for (int pages : IsolationSubjects.PAGES) {
                OptionalInt snapshot = p50(results, Isolation.SNAPSHOT, pages, use);
                OptionalInt sealed = p50(results, Isolation.SEALED, pages, use);
                if (snapshot.isPresent() && sealed.isPresent()) {
                    sealIsCheaper.put(pages, sealed.getAsInt() <= snapshot.getAsInt());
                }
            }
            if (sealIsCheaper.size() > 1) {
                crossings.add(of(use, sealIsCheaper));
            }
        }
        return crossings;
    }

    private static Crossing of(IsolationSubject.Use use, Map<Integer, Boolean> sealIsCheaper) {
        OptionalInt from = OptionalInt.empty();
        int largest = 0;
        for (Map.Entry<Integer, Boolean> size : sealIsCheaper.entrySet()) {
            largest = size.getKey();
            from = !size.getValue() ? OptionalInt.empty() : from.isPresent() ? from : OptionalInt.of(largest);
        }
        return new Crossing(use == IsolationSubject.Use.WRITE ? "changed" : "unchanged", from, largest);
    }

    private static OptionalInt p50(List<Result> results, Isolation mode, int pages, IsolationSubject.Use use) {
        String name = IsolationSubject.name(mode, pages, use);
        return results.stream()
                .filter(result -> result.name().equals(name))
                .mapToInt(result -> Math.toIntExact(result.p50Ns()))
                .findFirst();
    }

    /** For people. */
    String sentence() {
        return String.format(
                Locale.ROOT,
                "AUTO crossing, scopes %s between calls: %s",
                use,
                fromPages.isPresent()
                        ? "a seal costs no more than a snapshot from " + fromPages.getAsInt() + " pages ("
                                + Figures.bytes((double) fromPages.getAsInt() * IsolationSubject.PAGE) + ") on"
                        : "up to " + largestPages + " pages a snapshot costs less than a seal");
    }
}
