package dev.rackcall.perf;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/** An unknown name: the message has the names that were probably meant, or all names in short. */
final class UnknownSubjectException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;
    private static final int MOST_SUGGESTIONS = 8;

    UnknownSubjectException(String name) {
        super("there is nothing called '" + name + "' to measure; " + advice(name, Subjects.names()));
    }

    private static String advice(String name, List<String> names) {
        String wanted = name.toLowerCase(Locale.ROOT);
        List<String> close = names.stream()
                .filter(each -> !wanted.isEmpty() && (each.contains(wanted) || isMisspelt(wanted, each)))
                .toList();
        if (close.isEmpty()) {
            // Names that differ only in their numbers are listed once, as are all names of a target whose names are
            // combinations.
            String families = names.stream()
                    .map(each -> each.replaceAll("^(crowd|ycsb|social|rare|elastic|metrics|neighbour)-.*", "$1-...")
                            .replaceAll("\\d+", "N"))
                    .distinct()
                    .collect(Collectors.joining(", "));
            return "there is, with N for a size, " + families + " (docs/benchmarks.md describes them)";
        }
        return "did you mean "
                + close.stream().limit(MOST_SUGGESTIONS).collect(Collectors.joining(", "))
                + (close.size() > MOST_SUGGESTIONS ? " or one of " + (close.size() - MOST_SUGGESTIONS) + " more" : "")
                + "?";
    }

    /** Whether about one letter in four is wrong, missing or too much. */
    private static boolean isMisspelt(String wanted, String name) {
        return Math.abs(wanted.length() - name.length()) <= wanted.length() / 4
                && distance(wanted, name) <= wanted.length() / 4;
    }

    /** Letters to change, add or remove (Levenshtein). */
    private static int distance(String one, String other) {
        int[] above = IntStream.rangeClosed(0, other.length()).toArray();
        for (int row = 1; row <= one.length(); row++) {
            int[] line = new int[above.length];
            line[0] = row;
            for (int column = 1; column < line.length; column++) {
                int change = one.charAt(row - 1) == other.charAt(column - 1) ? 0 : 1;
                line[column] = Math.min(above[column - 1] + change, 1 + Math.min(above[column], line[column - 1]));
            }
            above = line;
        }
        return above[other.length()];
    }
}
