package dev.rackcall.perf;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Which results were asked for.
 *
 * @param targets what to measure
 * @param names only these of it; all if there are none
 */
record Selection(List<Target> targets, List<String> names) {
    /** @throws IllegalArgumentException if a name is unknown, or none of the targets measures it */
    Selection {
        for (String name : names) {
            if (!Subjects.names().contains(name)) {
                throw new UnknownSubjectException(name);
            }
            // JMH has names of its own, and measures all of them.
            if (!targets.contains(Target.JMH) && targets.stream().noneMatch(target -> target.measures(name))) {
                throw new IllegalArgumentException(words(targets)
                        + (targets.size() == 1 ? " has" : " have") + " no result '" + name + "'; "
                        + words(Arrays.stream(Target.values())
                                .filter(target -> target.measures(name))
                                .toList())
                        + " has");
            }
        }
    }

    private static String words(List<Target> targets) {
        return targets.stream().map(Target::word).collect(Collectors.joining(", "));
    }

    /** Without those that this host cannot measure. */
    List<Subject> subjects() {
        return wanted().stream().filter(subject -> subject.missing().isEmpty()).toList();
    }

    private List<Subject> wanted() {
        List<String> calls = names.stream()
                .filter(name -> !LockTarget.names().contains(name))
                .toList();
        return calls.isEmpty() && !names.isEmpty() ? List.of() : Subjects.only(calls);
    }

    List<String> locks() {
        return names.stream().filter(LockTarget.names()::contains).toList();
    }

    /** What the targets would measure on another host, and what this one lacks for it. */
    List<String> skipped() {
        Map<String, String> byReason = new TreeMap<>();
        wanted().stream()
                .filter(subject -> targets.stream().anyMatch(target -> target.measures(subject)))
                .forEach(subject -> subject.missing()
                        .ifPresent(why -> byReason.merge(why, subject.name(), (one, other) -> one + ", " + other)));
        return byReason.entrySet().stream()
                .map(entry -> entry.getValue() + ": " + entry.getKey())
                .toList();
    }
}
