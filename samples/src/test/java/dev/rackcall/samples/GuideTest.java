package dev.rackcall.samples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The pages of {@code docs} show nothing that does not run: each Java snippet stands in a sample or a test that is run. */
class GuideTest {
    private static final Path MODULE = Path.of("").toAbsolutePath();
    private static final Pattern BEGIN = Pattern.compile("^ *(```|~~~) *java", Pattern.MULTILINE);
    private static final Pattern SNIPPET =
            Pattern.compile("(?:<!-- from: (\\S+) -->\\n)?```java\\n(.*?)\\n```", Pattern.DOTALL);
    /** The pages have more today: a pattern that finds no snippets would find no wrong ones either. */
    private static final int LEAST_PAGES = 15;

    private static final int LEAST_SNIPPETS = 45;

    /** Those whose names begin with Abstract are of grpc-java. */
    private static final Pattern TEST = Pattern.compile("`(?!Abstract)(\\w+Test)[.`#]");

    private static final int LEAST_TESTS = 100;

    @Test
    void shouldShowOnlyCodeThatRuns() throws IOException {
        List<Path> pages = pages();
        assertThat(pages).hasSizeGreaterThanOrEqualTo(LEAST_PAGES);
        int count = 0;
        for (Path page : pages) {
            String text = Files.readString(page);
            List<MatchResult> snippets = SNIPPET.matcher(text).results().toList();
            assertThat(snippets)
                    .as("snippets of %s that this test can read", page)
                    .hasSize((int) BEGIN.matcher(text).results().count());
            for (MatchResult snippet : snippets) {
                requireThatItRuns(snippet, page);
                requireThatItIsWhole(snippet.group(2));
                count++;
            }
        }
        assertThat(count).isGreaterThanOrEqualTo(LEAST_SNIPPETS);
    }

    /** A claim that names a test leads to it. */
    @Test
    void shouldNameOnlyTestsThatExist() throws IOException {
        Set<String> sources = sources();
        assertThat(sources).contains("GuideTest");
        int count = 0;
        for (Path page : allPages()) {
            List<String> named = TEST.matcher(Files.readString(page))
                    .results()
                    .map(name -> name.group(1))
                    .toList();
            assertThat(named).as("tests that %s names", page).allMatch(sources::contains);
            count += named.size();
        }
        assertThat(count).isGreaterThanOrEqualTo(LEAST_TESTS);
    }

    private static Set<String> sources() throws IOException {
        Set<String> names = new HashSet<>();
        Files.walkFileTree(MODULE.resolve(".."), new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
                return folder.endsWith("target") || folder.endsWith(".git")
                        ? FileVisitResult.SKIP_SUBTREE
                        : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
                String name = file.getFileName().toString();
                if (name.endsWith(".java")) {
                    names.add(name.substring(0, name.length() - ".java".length()));
                }
                return FileVisitResult.CONTINUE;
            }
        });
        return names;
    }

    private static List<Path> allPages() throws IOException {
        try (Stream<Path> docs = Files.walk(MODULE.resolve("../docs"));
                Stream<Path> top = Files.list(MODULE.resolve(".."))) {
            return Stream.concat(docs, top)
                    .filter(path -> path.toString().endsWith(".md"))
                    .sorted()
                    .toList();
        }
    }

    private static List<Path> pages() throws IOException {
        List<Path> pages = new ArrayList<>();
        try (Stream<Path> files = Files.list(MODULE.resolve("../docs"))) {
            for (Path file : files.filter(path -> path.toString().endsWith(".md"))
                    .sorted()
                    .toList()) {
                if (BEGIN.matcher(Files.readString(file)).find()) {
                    pages.add(file);
                }
            }
        }
        return pages;
    }

    private static void requireThatItRuns(MatchResult snippet, Path page) throws IOException {
        assertThat(snippet.group(1))
                .as("the file of the snippet%n%s%nof %s", snippet.group(2), page)
                .isNotNull();
        String source = Files.readString(MODULE.resolve("..").resolve(snippet.group(1)));
        assertThat(withoutIndentation(source))
                .as("%s, which %s quotes", snippet.group(1), page)
                .contains(withoutIndentation(snippet.group(2)));
    }

    /** Only a service or a handler may go on after its snippet: a block that is cut may lack its point. */
    private static void requireThatItIsWhole(String snippet) {
        long open = snippet.chars().filter(each -> each == '{').count()
                - snippet.chars().filter(each -> each == '}').count();
        assertThat(open).as("blocks that are cut in%n%s", snippet).isBetween(0L, snippet.startsWith("@Rpc") ? 1L : 0L);
    }

    /** Snippets are indented less than their source. */
    private static String withoutIndentation(String text) {
        try (Stream<String> lines = text.lines()) {
            return String.join("\n", lines.map(String::strip).toList());
        }
    }
}
