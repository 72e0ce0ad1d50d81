package dev.rackcall.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The guide shows nothing that does not run: each of its Java snippets stands in a sample or a test that is run. */
class GuideTest {
    private static final Path MODULE = Path.of("").toAbsolutePath();
    private static final Pattern SNIPPET =
            Pattern.compile("(?:<!-- from: (\\S+) -->\\n)?```java\\n(.*?)```", Pattern.DOTALL);

    @Test
    void shouldShowOnlyCodeThatRuns() throws IOException {
        String guide = Files.readString(MODULE.resolve("../docs/guide.md"));
        List<MatchResult> snippets = SNIPPET.matcher(guide).results().toList();
        assertThat(snippets).hasSizeGreaterThan(5);
        for (MatchResult snippet : snippets) {
            assertThat(snippet.group(1))
                    .as("the file of the snippet%n%s", snippet.group(2))
                    .isNotNull();
            String source = Files.readString(MODULE.resolve("..").resolve(snippet.group(1)));
            assertThat(withoutIndentation(source))
                    .as("%s, which the guide quotes", snippet.group(1))
                    .contains(withoutIndentation(snippet.group(2)));
        }
    }

    /** Snippets are indented less than their source. */
    private static String withoutIndentation(String text) {
        try (Stream<String> lines = text.lines()) {
            return String.join("\n", lines.map(String::strip).toList());
        }
    }
}
