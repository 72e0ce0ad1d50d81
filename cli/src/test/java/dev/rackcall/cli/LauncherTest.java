package dev.rackcall.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the launcher says where it finds no JDK 25, and what it lets Maven install. */
class LauncherTest {
    /** Where the launcher looks for JDKs of this machine. */
    private static final List<Path> FOLDERS = Stream.of(
                    "/usr/lib/jvm", "/usr/lib64/jvm", "/usr/java", "/opt", "/usr/local")
            .map(Path::of)
            .filter(Files::isDirectory)
            .toList();

    @TempDir
    private Path folder;

    private record Outcome(int status, String said) {}

    /** A copy of it, where it would find nothing to build. */
    private Path launcher() throws IOException {
        Path copy = folder.resolve("rackcall");
        Files.copy(
                Path.of("..", "rackcall"),
                copy,
                StandardCopyOption.REPLACE_EXISTING,
                StandardCopyOption.COPY_ATTRIBUTES);
        return copy;
    }

    /** Runs a program with no other JDKs named than these, if any. */
    private Outcome run(String named, String javaHome, List<String> command) throws IOException, InterruptedException {
        Path output = folder.resolve("output");
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("HOME", folder.toString());
        builder.environment().put("PATH", folder.resolve("bin") + ":/usr/bin:/bin");
        builder.environment().keySet().removeAll(List.of("RACKCALL_JAVA_HOME", "JAVA_HOME", "SDKMAN_DIR"));
        if (!named.isEmpty()) {
            builder.environment().put("RACKCALL_JAVA_HOME", named);
        }
        if (!javaHome.isEmpty()) {
            builder.environment().put("JAVA_HOME", javaHome);
        }
        Process process = builder.redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        try {
            assertThat(process.waitFor(100, TimeUnit.SECONDS)).isTrue();
            return new Outcome(process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
        } finally {
            process.destroyForcibly();
        }
    }

    /** Makes what looks like a JDK of that version to the launcher. */
    private Path jdk(String version) throws IOException {
        Path home = folder.resolve("jdk-" + version);
        Files.createDirectories(home.resolve("bin"));
        for (String program : List.of("java", "javac")) {
            Path file = Files.writeString(home.resolve("bin").resolve(program), "#!/bin/sh\nexit 7\n");
            assertThat(file.toFile().setExecutable(true)).isTrue();
        }
        Files.writeString(home.resolve("release"), "JAVA_VERSION=\"" + version + "\"\n");
        return home;
    }

    @Test
    void shouldSayWhatIsWrongWithTheJdkThatIsNamed() throws Exception {
        Outcome nowhere = run("/nonexistent", "", List.of(launcher().toString()));
        assertThat(nowhere.status()).isEqualTo(1);
        assertThat(nowhere.said()).contains("RACKCALL_JAVA_HOME=/nonexistent is not a JDK 25; correct it or unset it");
        Path old = jdk("17.0.9");
        Outcome older = run(old.toString(), "", List.of(launcher().toString()));
        assertThat(older.status()).isEqualTo(1);
        assertThat(older.said()).contains("RACKCALL_JAVA_HOME=" + old + " is JDK 17.0.9, not a JDK 25");
    }

    /** Runs the launcher where the machine has no JDKs but those under this test's home, and JAVA_HOME is a JDK 17. */
    private Outcome runAlone() throws IOException, InterruptedException {
        StringBuilder script = new StringBuilder();
        FOLDERS.forEach(
                path -> script.append("mount -t tmpfs none ").append(path).append(" && "));
        assumeTrue(
                run("", "", inItsOwnFileSystem(script + "true")).status() == 0,
                "NOT TESTED: this user cannot give a process a file system of its own (unshare)");
        return run("", jdk("17.0.9").toString(), inItsOwnFileSystem(script + "exec " + launcher()));
    }

    private static List<String> inItsOwnFileSystem(String script) {
        return List.of("unshare", "--mount", "--map-root-user", "sh", "-c", script);
    }

    @Test
    void shouldSayHowToGetAJdk() throws Exception {
        Outcome outcome = runAlone();
        assertThat(outcome.said())
                .contains(
                        "rackcall: needs a JDK 25 and found none",
                        "RACKCALL_JAVA_HOME, JAVA_HOME",
                        "apt-get install temurin-25-jdk");
        assertThat(outcome.status()).isEqualTo(1);
    }

    @Test
    void shouldFindAJdkInAUsualFolder() throws Exception {
        Files.createDirectory(folder.resolve(".jdks"));
        Files.move(jdk("25.0.1"), folder.resolve(".jdks").resolve("some-25"));
        // That is what comes next; there is nothing to build, and perhaps nothing to build with.
        assertThat(runAlone().said())
                .containsPattern("rackcall: (building|needs Maven)")
                .doesNotContain("found none");
    }

    /** What Maven is asked for by the launcher with these arguments, without being run. */
    private String askedOfMaven(String... arguments) throws IOException, InterruptedException {
        Files.createDirectories(folder.resolve("bin"));
        Files.createDirectories(folder.resolve("bom"));
        for (String file : List.of("pom.xml", "bom/pom.xml")) {
            Files.copy(Path.of("..").resolve(file), folder.resolve(file), StandardCopyOption.REPLACE_EXISTING);
        }
        Path asked = folder.resolve("asked");
        Path maven = folder.resolve("bin").resolve("mvn");
        Files.writeString(maven, "#!/bin/sh\necho \"$@\" >'" + asked + "'\n");
        assertThat(maven.toFile().setExecutable(true)).isTrue();
        List<String> command = Stream.concat(Stream.of(launcher().toString()), Stream.of(arguments))
                .toList();
        Outcome outcome = run(jdk("25.0.1").toString(), "", command);
        assertThat(outcome.status()).as(outcome.said()).isZero();
        assertThat(outcome.said()).contains("installed dev.rackcall:");
        return Files.readString(asked);
    }

    @Test
    void shouldInstallWhatTheQuickStartNeeds() throws Exception {
        assertThat(askedOfMaven("install", "-o"))
                .contains(" -pl :rackcall-core,:rackcall-processor -am ", " install -o");
    }

    @Test
    void shouldInstallAllThatTheBomNames() throws Exception {
        assertThat(askedOfMaven("install", "--all", "-o"))
                .contains(
                        " -pl :rackcall-bom,:rackcall-core,:rackcall-processor,",
                        ",:rackcall-rdma,",
                        ",:rackcall-routing,",
                        ",:rackcall-control-plane,",
                        ",:rackcall-directory-zookeeper,",
                        ",:rackcall-junit,",
                        " install -o")
                .doesNotContain("--all");
    }
}
