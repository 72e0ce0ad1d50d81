package dev.rackcall.cli;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code ./rackcall test} makes of Maven's output, in a source tree of its own whose Maven says what the test wants. */
class LauncherSumTest {
    private static final Path SOURCES = Path.of("..").toAbsolutePath().normalize();
    private static final long BOUND_SECONDS = 60;

    @TempDir
    private Path root;

    /** Runs the launcher; returns all that it prints. */
    private String test(String maven) throws IOException, InterruptedException {
        Files.copy(SOURCES.resolve("rackcall"), root.resolve("rackcall"));
        Files.copy(SOURCES.resolve("pom.xml"), root.resolve("pom.xml"));
        Path bin = Files.createDirectory(root.resolve("bin"));
        Path mvn = Files.writeString(bin.resolve("mvn"), "#!/bin/bash\n" + maven);
        Files.setPosixFilePermissions(mvn, PosixFilePermissions.fromString("rwx------"));
        // With an argument it is not the whole suite, to which the quick start would belong.
        ProcessBuilder builder =
                new ProcessBuilder("bash", root.resolve("rackcall").toString(), "test", "-Dsome");
        Map<String, String> environment = builder.environment();
        environment.put("PATH", bin + ":" + environment.get("PATH"));
        environment.put("RACKCALL_JAVA_HOME", System.getProperty("java.home"));
        Path output = root.resolve("output");
        Process process = builder.redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(BOUND_SECONDS, TimeUnit.SECONDS)).isTrue();
        } finally {
            process.destroyForcibly();
        }
        return Files.readString(output);
    }

    private Path report(String module, String name, String counts) throws IOException {
        Path folder = Files.createDirectories(root.resolve(module + "/target/surefire-reports"));
        return Files.writeString(
                folder.resolve("TEST-" + name + ".xml"),
                "<?xml version=\"1.0\"?>\n<testsuite name=\"" + name + "\" time=\"1.5\" " + counts + ">\n",
                UTF_8);
    }

    /** Moved into place by what plays Maven, since a report counts that is newer than the start. */
    private Path waiting(String module, String name, String counts) throws IOException {
        return Files.move(report(module, name, counts), root.resolve(name));
    }

    @Test
    void shouldCountEveryModuleDespiteInterleavedOutput() throws Exception {
        Path former = report("a", "x.FormerTest", "tests=\"100\" errors=\"0\" skipped=\"0\" failures=\"0\"");
        Files.setLastModifiedTime(former, FileTime.from(Instant.now().minus(Duration.ofHours(1))));
        waiting("a", "x.ATest", "tests=\"7\" errors=\"0\" skipped=\"1\" failures=\"0\" flakes=\"0\"");
        waiting("b", "y.BTest", "tests=\"15\" errors=\"1\" skipped=\"0\" failures=\"2\" flakes=\"0\"");

        List<String> lines = test("""
                        cd "$(dirname "$0")/.."
                        for name in a/x.ATest b/y.BTest; do
                            cat "${name#*/}" >"${name%%/*}/target/surefire-reports/TEST-${name#*/}.xml"
                        done
                        echo '[INFO] Tests run: 7, Failures: 0, Err[INFO] Building Rackcall: b 0.1.0-SNAPSHOT'
                        echo 'ors: 0, Skipped: 1'
                        echo '[ERROR] Tests run: 15, Failures: 2, Errors: 1, Skipped: 0'
                        echo '[INFO] BUILD FAILURE'
                        exit 1
                        """).lines().toList();

        assertThat(lines).contains("18 passed, 3 failed, 1 skipped", "BUILD FAILURE");
    }

    @Test
    void shouldPrintNoSumWithoutTests() throws Exception {
        assertThat(test("echo '[ERROR] COMPILATION ERROR'; exit 1\n"))
                .contains("COMPILATION ERROR")
                .contains("the tests or checks failed")
                .doesNotContain("passed");
    }
}
