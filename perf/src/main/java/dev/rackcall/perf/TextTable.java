package dev.rackcall.perf;

import java.util.ArrayList;
import java.util.List;

/** Columns of text: the first is aligned left, the others right. */
final class TextTable {
    private final List<List<String>> rows = new ArrayList<>();

    TextTable row(List<String> cells) {
        rows.add(cells);
        return this;
    }

    String render() {
        int columns = rows.stream().mapToInt(List::size).max().orElse(0);
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int column = 0; column < row.size(); column++) {
                widths[column] = Math.max(widths[column], row.get(column).length());
            }
        }
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int column = 0; column < row.size(); column++) {
                String padding = " ".repeat(widths[column] - row.get(column).length());
                line.append(column == 0 ? row.get(column) + padding : "  " + padding + row.get(column));
            }
            text.append(line.toString().stripTrailing()).append('\n');
        }
        return text.toString();
    }
}
