package dev.rackcall.perf;

import dev.rackcall.perf.alock.LockTarget;
import dev.rackcall.perf.harness.Subject;
import dev.rackcall.perf.result.BenchTarget;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * The chosen results.
 *
 * @param targets what to measure
 * @param names the only results of these targets to measure; if the list is empty, all but those that are measured only on
 *     request
 */
record BenchSelection(List<BenchTarget> targets, List<String> names) {
    /** @throws IllegalArgumentException if a name is unknown, or none of the targets measures it */
    BenchSelection {
        for (String name : names) {
            if (!Subjects.names().contains(name)) {
                throw new UnknownSubjectException(name);
            }
            // JMH has names of its own, and measures all of them.
            if (targets.stream().noneMatch(BenchTarget::isMicro)
                    && targets.stream().noneMatch(target -> measures(target, name))) {
                throw new IllegalArgumentException(words(targets)
                        + (targets.size() == 1 ? " has" : " have") + " no result '" + name + "'; "
                        + words(Arrays.stream(BenchTarget.values())
                                .filter(target -> measures(target, name))
                                .toList())
                        + " has");
            }
        }
    }

    private static boolean measures(BenchTarget target, String name) {
        return target == BenchTarget.ALOCK
                ? LockTarget.names().contains(name)
                : Subjects.all().stream()
                        .anyMatch(subject -> subject.name().equals(name) && subject.isMeasuredBy(target));
    }

    private static String words(List<BenchTarget> targets) {
        return targets.stream().map(BenchTarget::word).collect(Collectors.joining(", "));
    }

    /** The subjects that the targets measure and this host can measure. */
    List<Subject> subjects() {
        return wanted().stream()
                .filter(subject -> targets.stream().anyMatch(subject::isMeasuredBy))
                .filter(subject -> subject.missing().get().isEmpty())
                .toList();
    }

    private List<Subject> wanted() {
        List<String> calls = new ArrayList<>(names);
        calls.removeAll(LockTarget.names());
        if (!names.isEmpty()) {
            return calls.isEmpty() ? List.of() : Subjects.only(calls);
        }
        return Subjects.all().stream()
                .filter(subject -> !subject.has(Subject.Trait.ON_REQUEST))
                .toList();
    }

    List<String> locks() {
        return names.stream().filter(LockTarget.names()::contains).toList();
    }

    /** The subjects that the targets would measure on another host, and what this one lacks for them. */
    List<String> skipped() {
        Map<String, String> byReason = new TreeMap<>();
        wanted().stream()
                .filter(subject -> targets.stream().anyMatch(subject::isMeasuredBy))
                .forEach(subject -> subject.missing()
                        .get()
                        .ifPresent(why -> byReason.merge(why, subject.name(), (one, other) -> one + ", " + other)));
        return byReason.entrySet().stream()
                .map(entry -> entry.getValue() + ": " + entry.getKey())
                .toList();
    }
}
