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

/** These pages show nothing that does not run: each Java snippet stands in a sample or a test that is run. */
class GuideTest {
    private static final Path MODULE = Path.of("").toAbsolutePath();
    private static final Pattern SNIPPET =
            Pattern.compile("(?:<!-- from: (\\S+) -->\\n)?```java\\n(.*?)```", Pattern.DOTALL);

    @Test
    void shouldShowOnlyCodeThatRuns() throws IOException {
        requireThatSnippetsRun("guide.md", 4);
        requireThatSnippetsRun("testing.md", 2);
        requireThatSnippetsRun("spring.md", 3);
        requireThatSnippetsRun("chronicle.md", 2);
    }

    private static void requireThatSnippetsRun(String page, int least) throws IOException {
        for (MatchResult snippet : snippets(page, least)) {
            assertThat(snippet.group(1))
                    .as("the file of the snippet%n%s", snippet.group(2))
                    .isNotNull();
            requireThatItRuns(snippet, page);
        }
    }

    private static List<MatchResult> snippets(String page, int least) throws IOException {
        String text = Files.readString(MODULE.resolve("../docs").resolve(page));
        List<MatchResult> snippets = SNIPPET.matcher(text).results().toList();
        assertThat(snippets).hasSizeGreaterThanOrEqualTo(least);
        return snippets;
    }

    private static void requireThatItRuns(MatchResult snippet, String page) throws IOException {
        String source = Files.readString(MODULE.resolve("..").resolve(snippet.group(1)));
        assertThat(withoutIndentation(source))
                .as("%s, which %s quotes", snippet.group(1), page)
                .contains(withoutIndentation(snippet.group(2)));
    }

    /** Snippets are indented less than their source. */
    private static String withoutIndentation(String text) {
        try (Stream<String> lines = text.lines()) {
            return String.join("\n", lines.map(String::strip).toList());
        }
    }
}
