package dev.rackcall.samples.documents;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * A file with one JSON object a line, in UTF-8. Lines that hold something else are reported and passed over; empty ones are passed over. Of
 * several readers of one file each can take its share of the lines. Not thread-safe.
 */
public final class JsonLines implements AutoCloseable {
    /** Bytes that a line may have. */
    public static final int MAX_LINE = 16 << 20;

    private static final int CHUNK = 64 << 10;
    private static final int END = -1;

    private final InputStream in;
    private final int share;
    private final int shares;
    private final Consumer<BadLine> bad;

    private final byte[] chunk = new byte[CHUNK];
    private int from;
    private int to;
    private byte[] line = new byte[CHUNK];
    private long number;

    private JsonLines(InputStream in, int share, int shares, Consumer<BadLine> bad) {
        this.in = in;
        this.share = share;
        this.shares = shares;
        this.bad = bad;
    }

    /**
     * Opens a file.
     *
     * @param share which of the {@code shares} equal parts of the lines to take, from 0
     * @param bad hears of each line that is no document
     */
    public static JsonLines open(Path file, int share, int shares, Consumer<BadLine> bad) throws IOException {
        return new JsonLines(Files.newInputStream(file), share, shares, bad);
    }

    /** The next document, numbered as its line; empty at the end of the file. */
    public Optional<JsonDocument> next() throws IOException {
        for (int length = readLine(); length != END; length = readLine()) {
            boolean mine = number++ % shares == share;
            if (mine) {
                Optional<JsonDocument> document = document(length);
                if (document.isPresent()) {
                    return document;
                }
            }
        }
        return Optional.empty();
    }

    /** Reads a line into {@link #line} and returns its length; of one that is too long, the first {@code MAX_LINE + 1} bytes. */
    private int readLine() throws IOException {
        int length = 0;
        boolean begun = false;
        while (true) {
            if (from == to) {
                from = 0;
                to = Math.max(0, in.read(chunk));
                if (to == 0) {
                    return begun ? length : END;
                }
            }
            begun = true;
            int end = from;
            while (end < to && chunk[end] != '\n') {
                end++;
            }
            length = append(end, length);
            boolean whole = end < to;
            from = whole ? end + 1 : to;
            if (whole) {
                return length;
            }
        }
    }

    private int append(int end, int length) {
        int more = Math.min(end - from, MAX_LINE + 1 - length);
        if (length + more > line.length) {
            line = Arrays.copyOf(line, Math.min(MAX_LINE + 1, Math.max(length + more, 2 * line.length)));
        }
        System.arraycopy(chunk, from, line, length, more);
        return length + more;
    }

    private Optional<JsonDocument> document(int length) {
        if (length > MAX_LINE) {
            bad.accept(new BadLine(number, "the line is longer than " + MAX_LINE + " bytes"));
            return Optional.empty();
        }
        if (isBlank(length)) {
            return Optional.empty();
        }
        try {
            JsonNode content = JsonText.MAPPER.readTree(line, 0, length);
            Optional<String> complaint = complaint(content);
            complaint.ifPresent(reason -> bad.accept(new BadLine(number, reason)));
            return complaint.isPresent() ? Optional.empty() : Optional.of(new JsonDocument(number, content));
        } catch (JacksonException e) {
            bad.accept(new BadLine(number, reason(e)));
            return Optional.empty();
        }
    }

    private boolean isBlank(int length) {
        for (int i = 0; i < length; i++) {
            if (line[i] != ' ' && line[i] != '\t' && line[i] != '\r') {
                return false;
            }
        }
        return true;
    }

    private static String reason(JacksonException e) {
        // Jackson names the place of an unclosed bracket by a source that it is told not to show.
        String message = e.getOriginalMessage()
                .lines()
                .findFirst()
                .orElse("this is no JSON")
                .replaceFirst(" \\(start marker at .*", "");
        int column = e.getLocation() == null ? 0 : e.getLocation().getColumnNr();
        return column > 0 ? message + " (column " + column + ")" : message;
    }

    private static Optional<String> complaint(JsonNode content) {
        if (!content.isObject()) {
            return Optional.of("the line holds a JSON "
                    + content.getNodeType().name().toLowerCase(Locale.ROOT) + ", not an object");
        }
        return isUnicode(content)
                ? Optional.empty()
                : Optional.of("a text holds half of a surrogate pair, which no UTF-8 can say");
    }

    private static boolean isUnicode(JsonNode node) {
        for (Map.Entry<String, JsonNode> member : node.properties()) {
            if (!isUnicode(member.getKey())) {
                return false;
            }
        }
        for (JsonNode child : node.values()) {
            if (!isUnicode(child)) {
                return false;
            }
        }
        return !node.isString() || isUnicode(node.stringValue());
    }

    private static boolean isUnicode(String text) {
        for (int i = 0; i < text.length(); i++) {
            if (Character.isSurrogate(text.charAt(i))) {
                if (i + 1 == text.length() || !Character.isSurrogatePair(text.charAt(i), text.charAt(i + 1))) {
                    return false;
                }
                i++;
            }
        }
        return true;
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
