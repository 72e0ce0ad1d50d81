package dev.rackcall.rack;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rack.guest.Step;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class GuestShareTest {
    @TempDir
    private Path folder;

    @Test
    void shouldPassEachGuestItsSteps() {
        List<GuestSpec> guests = List.of(new GuestSpec("A", Optional.empty()), new GuestSpec("C", Optional.empty()));
        String text = GuestShare.configuration(
                List.of("/a.jar", "/b.jar"), List.of("-ea"), guests, EnumSet.allOf(Step.class));

        assertThat(text).contains("CLASS_PATH='/a.jar:/b.jar'\n", " -ea'\n");
        assertThat(steps(text, "A")).startsWith("atomics", "memory").doesNotContain("contract");
        // C shares no memory with the others.
        assertThat(steps(text, "C"))
                .startsWith("rdma", "remote")
                .contains("contract")
                .doesNotContain("atomics", "memory");
    }

    private static List<String> steps(String configuration, String guest) {
        String start = "STEPS_" + guest + "='";
        String line = configuration
                .lines()
                .filter(each -> each.startsWith(start))
                .findFirst()
                .orElseThrow();
        return List.of(line.substring(start.length(), line.length() - 1).split(","));
    }

    @Test
    void shouldPackFoldersWithClasses() throws IOException {
        Path classes = Files.createDirectories(folder.resolve("classes/p")).getParent();
        Files.writeString(classes.resolve("p/X.class"), "x");
        Path share = GuestShare.fill(
                folder.resolve("share"), List.of(classes), List.of(), List.of(), EnumSet.allOf(Step.class));

        try (ZipFile jar = new ZipFile(share.resolve("000-classes.jar").toFile())) {
            assertThat(jar.getEntry("p/X.class")).isNotNull();
        }
        assertThat(share.resolve("guest.sh")).exists();
    }

    @Test
    void shouldNameSuitesThatExist() throws IOException {
        Path sources = Path.of("src/main/java/dev/rackcall/rack/guest");
        String steps = Files.readString(sources.resolve("SuiteStep.java"))
                + Files.readString(sources.resolve("KeysStep.java"));
        List<String> suites = Pattern.compile("dev\\.rackcall\\.[a-z.]+\\.[A-Z]\\w*(Test|Check)")
                .matcher(steps)
                .results()
                .map(MatchResult::group)
                .distinct()
                .toList();
        List<Path> tests;
        try (Stream<Path> roots = Files.find(Path.of("../.."), 5, (path, kind) -> path.endsWith("src/test/java"))) {
            tests = roots.toList();
        }
        assertThat(suites)
                .isNotEmpty()
                .allSatisfy(suite -> assertThat(tests)
                        .as(suite)
                        .anyMatch(root -> Files.exists(root.resolve(suite.replace('.', '/') + ".java"))));
    }

    @Test
    void shouldRefuseStepsThatDoNotExist() {
        assertThatThrownBy(() -> Step.ofWord("nothing")).hasMessageContaining("nothing");
    }
}
