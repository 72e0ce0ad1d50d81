package dev.rackcall.perf.isolation;

import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.result.BenchTarget;
import dev.rackcall.perf.result.Crossing;
import dev.rackcall.perf.result.Result;
import dev.rackcall.rpc.Isolation;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.stream.Collectors;

/**
 * All subjects of the target {@code isolation}: calls in each mode over scopes of some sizes, their parts, and
 * neighbours.
 */
public final class IsolationSubjects {
    private static final int[] PAGES = {1, 16, 256, 1024, 4096};
    private static final int[] ENFORCED_PAGES = {1, 16, 256, 1024};
    /** Pages of the scope on huge pages: 8 MiB. */
    private static final int LARGE = 2048;

    private static final List<Isolation> MODES =
            List.of(Isolation.TRUSTED, Isolation.SNAPSHOT, Isolation.SEALED, Isolation.AUTO);

    private IsolationSubjects() {}

    /** In the order of the report. */
    public static List<Subject> all() {
        List<Subject> all = new ArrayList<>();
        for (int pages : PAGES) {
            addModes(all, pages, IsolationCall.Use.TOUCH, IsolationCall.Kind.PLAIN);
            all.add(LocalSubjects.copying(pages));
        }
        addModes(all, 1, IsolationCall.Use.READ, IsolationCall.Kind.PLAIN);
        for (int pages : PAGES) {
            addModes(all, pages, IsolationCall.Use.WRITE, IsolationCall.Kind.PLAIN);
        }
        List<IsolationCall.Use> uses = List.of(IsolationCall.Use.TOUCH, IsolationCall.Use.WRITE);
        uses.forEach(use -> addModes(all, LARGE, use, IsolationCall.Kind.HUGE_PAGES));
        for (IsolationCall.Use use : uses) {
            for (int pages : ENFORCED_PAGES) {
                all.add(IsolationCall.subject(Isolation.SEALED, pages, use, IsolationCall.Kind.HELD_SEALS));
            }
        }
        SealSubjects.addTo(all, PAGES);
        LocalSubjects.addTo(all);
        NeighbourCall.addTo(all);
        return all;
    }

    private static void addModes(List<Subject> all, int pages, IsolationCall.Use use, IsolationCall.Kind kind) {
        MODES.forEach(mode -> all.add(IsolationCall.subject(mode, pages, use, kind)));
    }

    /**
     * The size from which a seal costs no more than a snapshot, for each use that was measured in both modes at two or
     * more sizes.
     */
    public static List<Crossing> crossings(List<Result> results) {
        Map<String, Long> medians = results.stream()
                .filter(result -> result.target() == BenchTarget.ISOLATION)
                .collect(Collectors.toMap(Result::name, Result::p50Ns));
        List<Crossing> crossings = new ArrayList<>();
        for (String infix : List.of("", "write-")) {
            OptionalInt from = OptionalInt.empty();
            int largest = 0;
            int sizes = 0;
            for (int pages : PAGES) {
                Long snapshot = medians.get("snapshot-" + infix + pages);
                Long sealed = medians.get("sealed-" + infix + pages);
                if (snapshot != null && sealed != null) {
                    sizes++;
                    largest = pages;
                    from = sealed > snapshot ? OptionalInt.empty() : from.isPresent() ? from : OptionalInt.of(pages);
                }
            }
            if (sizes > 1) {
                crossings.add(new Crossing(infix.isEmpty() ? "unchanged" : "changed", from, largest));
            }
        }
        return crossings;
    }
}
