package dev.rackcall.samples.documents;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.samples.documents.JsonLines.BadLine;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JsonLinesTest {
    @TempDir
    private Path folder;

    private final List<BadLine> bad = new ArrayList<>();

    @Test
    void shouldNumberDocumentsAsTheirLines() throws IOException {
        assertThat(numbers("{\"a\":1}\n\n{\"a\":2}\r\n   \n{\"a\":3}")).containsExactly(1L, 3L, 5L);
        assertThat(bad).isEmpty();
    }

    @Test
    void shouldSkipBadLinesAndSayWhy() throws IOException {
        assertThat(numbers("{\"a\":1}\n{\"a\":\n42\n[]\n{\"a\":1,\"a\":2}\n{} {}\n{\"a\":\"\\ud83d\"}\n"
                        + "[".repeat(200) + "\nnonsense\n{\"b\":2}\n"))
                .containsExactly(1L, 10L);
        assertThat(bad).extracting(BadLine::number).containsExactly(2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
        assertThat(bad).extracting(BadLine::reason).allMatch(reason -> !reason.isBlank() && !reason.contains("\n"));
        assertThat(bad.get(1).reason()).isEqualTo("the line holds a JSON number, not an object");
        assertThat(bad.get(3).reason()).startsWith("Duplicate Object property \"a\"");
        assertThat(bad.get(5).reason()).contains("surrogate");
        assertThat(bad.get(6).reason()).contains("nesting depth");
    }

    @Test
    void shouldSkipLinesThatAreNotUtf8() throws IOException {
        byte[] lines = "{\"a\":\"?\"}\n{\"a\":\"ok\"}\n".getBytes(StandardCharsets.UTF_8);
        lines[6] = (byte) 0xff;

        assertThat(numbers(lines)).containsExactly(2L);
        assertThat(bad).singleElement().extracting(BadLine::number).isEqualTo(1L);
    }

    @Test
    void shouldReadAByteOrderMark() throws IOException {
        assertThat(numbers("\ufeff{\"a\":1}\n")).containsExactly(1L);
    }

    @Test
    void shouldReadLinesLongerThanItsBufferAndSkipEndlessOnes() throws IOException {
        String fits = "{\"a\":\"" + "x".repeat(1 << 20) + "\"}";
        String tooLong = "{\"a\":\"" + "x".repeat(JsonLines.MAX_LINE) + "\"}";

        assertThat(numbers(fits + "\n" + tooLong + "\n{}\n")).containsExactly(1L, 3L);
        assertThat(bad).singleElement().extracting(BadLine::number).isEqualTo(2L);
    }

    @Test
    void shouldDivideTheLinesAmongReaders() throws IOException {
        String lines = "{\"a\":1}\nbad\n".repeat(50);
        List<Long> all = new ArrayList<>();
        for (int share = 0; share < 3; share++) {
            all.addAll(numbers(lines.getBytes(StandardCharsets.UTF_8), share, 3));
        }

        assertThat(all).doesNotHaveDuplicates().hasSize(50);
        assertThat(bad).extracting(BadLine::number).doesNotHaveDuplicates().hasSize(50);
    }

    private List<Long> numbers(String lines) throws IOException {
        return numbers(lines.getBytes(StandardCharsets.UTF_8));
    }

    private List<Long> numbers(byte[] lines) throws IOException {
        return numbers(lines, 0, 1);
    }

    private List<Long> numbers(byte[] lines, int share, int shares) throws IOException {
        Path file = Files.write(folder.resolve("documents.json"), lines);
        List<Long> numbers = new ArrayList<>();
        try (JsonLines documents = JsonLines.open(file, share, shares, bad::add)) {
            for (Optional<JsonDocument> next = documents.next(); next.isPresent(); next = documents.next()) {
                numbers.add(next.get().number());
            }
        }
        return numbers;
    }
}
