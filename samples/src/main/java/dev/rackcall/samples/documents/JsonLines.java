package dev.rackcall.samples.documents;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * A file with one JSON object a line, in UTF-8. A document's number is that of its line. Empty lines are skipped, others
 * are reported. Several readers can each take a share of the lines.
 */
public final class JsonLines implements DocumentSource {
    /** A line that holds no document: its number, from 1, and why. */
    public record BadLine(long number, String reason) {}

    /** Bytes that a line may have. */
    public static final int MAX_LINE = 16 << 20;

    private static final int CHUNK = 64 << 10;
    private static final int END = -1;

    private final InputStream in;
    private final int share;
    private final int shares;
    private final Consumer<BadLine> bad;

    private final CharsetEncoder utf8 = StandardCharsets.UTF_8.newEncoder();
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
     * @param bad receives each line that holds no document
     */
    public static JsonLines open(Path file, int share, int shares, Consumer<BadLine> bad) throws IOException {
        return new JsonLines(new BufferedInputStream(Files.newInputStream(file), CHUNK), share, shares, bad);
    }

    @Override
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

    /** Reads a line into {@link #line} and returns its length; of a line that is too long, the first {@code MAX_LINE + 1} bytes. */
    private int readLine() throws IOException {
        int next = in.read();
        if (next < 0) {
            return END;
        }
        int length = 0;
        for (; next >= 0 && next != '\n'; next = in.read()) {
            if (length == line.length && length <= MAX_LINE) {
                line = Arrays.copyOf(line, Math.min(MAX_LINE + 1, 2 * length));
            }
            if (length < line.length) {
                line[length++] = (byte) next;
            }
        }
        return length;
    }

    private Optional<JsonDocument> document(int length) {
        if (length > MAX_LINE) {
            bad.accept(new BadLine(number, "the line is longer than " + MAX_LINE + " bytes"));
            return Optional.empty();
        }
        try {
            JsonNode content = JsonText.MAPPER.readTree(line, 0, length);
            if (content.isMissingNode()) { // the line is blank
                return Optional.empty();
            }
            Optional<String> complaint = complaint(content);
            complaint.ifPresent(reason -> bad.accept(new BadLine(number, reason)));
            return complaint.isPresent() ? Optional.empty() : Optional.of(new JsonDocument(number, content));
        } catch (JacksonException e) {
            bad.accept(new BadLine(number, reason(e)));
            return Optional.empty();
        }
    }

    private static String reason(JacksonException e) {
        // Jackson adds the place of an unclosed bracket, with a source that it is configured not to show.
        String message = e.getOriginalMessage()
                .lines()
                .findFirst()
                .orElse("this is not JSON")
                .replaceFirst(" \\(start marker at .*", "");
        int column = e.getLocation() == null ? 0 : e.getLocation().getColumnNr();
        return column > 0 ? message + " (column " + column + ")" : message;
    }

    private Optional<String> complaint(JsonNode content) {
        if (!content.isObject()) {
            return Optional.of("the line holds a JSON "
                    + content.getNodeType().name().toLowerCase(Locale.ROOT) + ", not an object");
        }
        return isUnicode(content)
                ? Optional.empty()
                : Optional.of("a text holds half of a surrogate pair, which UTF-8 cannot encode");
    }

    /** Whether UTF-8 can encode all texts. */
    private boolean isUnicode(JsonNode node) {
        return node.propertyNames().stream().allMatch(utf8::canEncode)
                && node.valueStream().allMatch(this::isUnicode)
                && (!node.isString() || utf8.canEncode(node.stringValue()));
    }

    @Override
    public void close() throws IOException {
        in.close();
    }
}
