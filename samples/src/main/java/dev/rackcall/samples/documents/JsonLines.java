package dev.rackcall.samples.documents;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.function.Consumer;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.JsonNode;

/**
 * A file with one JSON object a line, in UTF-8. A document's number is its line number. Blank lines are skipped; other
 * lines without a document are reported. Several readers can each take a share of the lines.
 */
public final class JsonLines implements DocumentSource {
    /** A line that holds no document: its number, from 1, and why. */
    public record BadLine(long number, String reason) {}

    /** The maximum length of a line in bytes. */
    public static final int MAX_LINE = 16 << 20;

    private static final int BUFFER = 64 << 10;

    private final InputStream in;
    private final int share;
    private final int shares;
    private final Consumer<BadLine> bad;

    private final CharsetEncoder utf8 = StandardCharsets.UTF_8.newEncoder();
    private final ByteArrayOutputStream line = new ByteArrayOutputStream();
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
        return new JsonLines(new BufferedInputStream(Files.newInputStream(file), BUFFER), share, shares, bad);
    }

    @Override
    public Optional<JsonDocument> next() throws IOException {
        while (readLine()) {
            boolean mine = number++ % shares == share;
            Optional<JsonDocument> document = mine ? document(line.toByteArray()) : Optional.empty();
            if (document.isPresent()) {
                return document;
            }
        }
        return Optional.empty();
    }

    /**
     * Reads the next line, or the first {@code MAX_LINE + 1} bytes of a line that is too long. False at the end of the
     * file.
     */
    private boolean readLine() throws IOException {
        line.reset();
        int next = in.read();
        boolean read = next >= 0;
        for (; next >= 0 && next != '\n'; next = in.read()) {
            if (line.size() <= MAX_LINE) {
                line.write(next);
            }
        }
        return read;
    }

    private Optional<JsonDocument> document(byte[] text) {
        if (text.length > MAX_LINE) {
            return skip("the line is longer than " + MAX_LINE + " bytes");
        }
        try {
            JsonNode content = JsonText.MAPPER.readTree(text);
            if (content.isMissingNode()) { // the line is blank
                return Optional.empty();
            }
            if (!content.isObject()) {
                String type = content.getNodeType().name().toLowerCase(Locale.ROOT);
                return skip("the line holds a JSON " + type + ", not an object");
            }
            return isUnicode(content)
                    ? Optional.of(new JsonDocument(number, content))
                    : skip("a text holds half of a surrogate pair, which UTF-8 cannot encode");
        } catch (JacksonException e) {
            return skip(reason(e));
        }
    }

    private Optional<JsonDocument> skip(String reason) {
        bad.accept(new BadLine(number, reason));
        return Optional.empty();
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
