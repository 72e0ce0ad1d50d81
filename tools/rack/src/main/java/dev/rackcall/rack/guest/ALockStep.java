package dev.rackcall.rack.guest;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The lock-table benchmark with a node in A and one in C, each with locks of its own and two threads that use all:
 * ALock, and locks by RDMA alone.
 */
final class ALockStep implements Guest.Work {
    private static final Step STEP = Step.ALOCK;
    private static final String BENCH = "dev.rackcall.perf.alock.LockHosts";
    private static final int PORT = 18518;
    private static final String MILLIS = "1000";
    private static final List<String> KINDS = List.of("alock", "spin", "mcs");
    private static final List<String> SHAPES = List.of("-95-20", "-85-20");
    /** A compare-and-set, the operation of which the locks consist: all to the other guest, or all to this one. */
    private static final List<String> VERBS = List.of("verb-0-20", "verb-100-20");

    private static final Duration BOUND = Duration.ofMinutes(3);

    @Override
    public String run(Guest guest) throws IOException, InterruptedException {
        Map<String, Double> own = measure(guest);
        if (guest.is("A")) {
            own.forEach((name, operations) -> guest.put(STEP, name, Double.toString(operations)));
            return "with C: " + own;
        }
        StringBuilder summary = new StringBuilder("locks and unlocks a second of both guests, emulated:");
        for (String shape : SHAPES) {
            Map<String, Double> sums = new LinkedHashMap<>();
            for (String kind : KINDS) {
                String name = kind + shape;
                sums.put(kind, own.get(name) + Double.parseDouble(guest.get(STEP, name)));
            }
            sums.forEach((kind, sum) -> summary.append(String.format(Locale.ROOT, " %s%s %.0f", kind, shape, sum)));
            summary.append(String.format(
                    Locale.ROOT,
                    " (%.1f x spin, %.1f x mcs);",
                    sums.get("alock") / sums.get("spin"),
                    sums.get("alock") / sums.get("mcs")));
        }
        VERBS.forEach(name -> summary.append(String.format(
                Locale.ROOT, " %s %.0f", name, own.get(name) + Double.parseDouble(guest.get(STEP, name)))));
        return summary.toString();
    }

    /** Operations a second of this guest's threads, by name. */
    private static Map<String, Double> measure(Guest guest) throws IOException, InterruptedException {
        List<String> arguments = new ArrayList<>(List.of(
                RdmaEnd.DEVICE,
                guest.is("A") ? "0" : "1",
                Integer.toString(PORT),
                guest.is("A") ? "10.77.0.3" : "10.77.0.1",
                Integer.toString(PORT),
                MILLIS));
        SHAPES.forEach(shape -> KINDS.forEach(kind -> arguments.add(kind + shape)));
        arguments.addAll(VERBS);
        Map<String, Double> operations = new LinkedHashMap<>();
        int status = GuestJvm.start(List.of(), BENCH, arguments).await(BOUND, line -> {
            String[] words = line.split(" ", 4);
            if (words[0].equals("LOCKS")) {
                operations.put(words[1], Double.parseDouble(words[2]));
            }
        });
        Guest.require(
                status == 0 && operations.size() == SHAPES.size() * KINDS.size() + VERBS.size(),
                "the benchmark ended with status " + status + " and " + operations);
        return operations;
    }
}
