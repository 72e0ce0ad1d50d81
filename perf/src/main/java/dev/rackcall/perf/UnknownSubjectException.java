package dev.rackcall.perf;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** Somebody asks for what cannot be measured: names what was probably meant, else what there is, in short. */
final class UnknownSubjectException extends IllegalArgumentException {
    private static final long serialVersionUID = 1L;
    private static final int MOST_SUGGESTIONS = 8;

    UnknownSubjectException(String name) {
        super("there is nothing called '" + name + "' to measure; " + advice(name, Subjects.names()));
    }

    static String advice(String name, List<String> names) {
        String wanted = name.toLowerCase(Locale.ROOT);
        List<String> close = names.stream()
                .filter(each -> !wanted.isEmpty() && (each.contains(wanted) || isMisspelt(wanted, each)))
                .toList();
        if (close.isEmpty()) {
            return "there is, with N for a size, " + families(names) + " (docs/benchmarks.md says what they are)";
        }
        return "did you mean "
                + close.stream().limit(MOST_SUGGESTIONS).collect(Collectors.joining(", "))
                + (close.size() > MOST_SUGGESTIONS ? " or one of " + (close.size() - MOST_SUGGESTIONS) + " more" : "")
                + "?";
    }

    /** Names that differ in their numbers only, once. */
    private static String families(List<String> names) {
        Map<String, Integer> families = new LinkedHashMap<>();
        names.forEach(each -> families.merge(each.replaceAll("\\d+", "N"), 1, Integer::sum));
        return String.join(", ", families.keySet());
    }

    /** Whether about one letter in four is wrong, missing or too much. */
    private static boolean isMisspelt(String wanted, String name) {
        return Math.abs(wanted.length() - name.length()) <= wanted.length() / 4
                && distance(wanted, name) <= wanted.length() / 4;
    }

    /** Letters to be changed, added or taken away (Levenshtein). */
    private static int distance(String one, String other) {
        int[] above = new int[other.length() + 1];
        for (int column = 0; column < above.length; column++) {
            above[column] = column;
        }
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
