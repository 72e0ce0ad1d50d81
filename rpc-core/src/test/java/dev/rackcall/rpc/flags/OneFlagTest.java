package dev.rackcall.rpc.flags;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.jar.Attributes;
import java.util.jar.JarOutputStream;
import java.util.jar.Manifest;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Which flags of the JVM a user's program needs, and what the program prints without them. */
class OneFlagTest {
    private static final String DENY_UNSAFE = "--sun-misc-unsafe-memory-access=deny";
    private static final String DENY_NATIVE = "--illegal-native-access=deny";

    @TempDir
    Path directory;

    private Path jar;

    /** Makes a jar to start that contains nothing but its manifest, which names the class path. */
    @BeforeEach
    void makeJar() throws IOException {
        jar = jar("one.jar", "ALL-UNNAMED");
    }

    private Path jar(String name, String nativeAccess) throws IOException {
        Manifest manifest = new Manifest();
        Attributes entries = manifest.getMainAttributes();
        entries.put(Attributes.Name.MANIFEST_VERSION, "1.0");
        entries.put(Attributes.Name.MAIN_CLASS, ParcelOffice.class.getName());
        entries.put(
                Attributes.Name.CLASS_PATH,
                Arrays.stream(System.getProperty("java.class.path").split(File.pathSeparator))
                        .map(path -> Path.of(path).toUri().toString())
                        .collect(Collectors.joining(" ")));
        if (!nativeAccess.isEmpty()) {
            entries.putValue("Enable-Native-Access", nativeAccess);
        }
        Path file = directory.resolve(name);
        try (OutputStream out = Files.newOutputStream(file)) {
            new JarOutputStream(out, manifest).close();
        }
        return file;
    }

    /** Runs without any flag of this JVM. */
    private List<String> run(List<String> flags, String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(flags);
        command.add(directory.toString());
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().remove("JDK_JAVA_OPTIONS");
        builder.environment().remove("JAVA_TOOL_OPTIONS");
        Process process = builder.start();
        try {
            List<String> lines;
            try (var reader = process.inputReader()) {
                // On a busy machine the server warns of a slow handler.
                lines = reader.lines()
                        .filter(line -> !line.contains(".Relief - "))
                        .toList();
            }
            List<String> late = lines.stream()
                    .filter(line -> line.contains(".LostWakeUps - "))
                    .toList();
            assertThat(late).as("a busy machine may make one wake-up late").hasSizeLessThan(2);
            lines = lines.stream().filter(line -> !late.contains(line)).toList();
            assertThat(process.waitFor()).as("exit code; output: " + lines).isZero();
            return lines;
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void shouldPrintNothingOfItsOwnAsAJar() throws Exception {
        assertThat(run(List.of("-jar", jar.toString()), "object")).containsExactly("to Ada", "42");
    }

    @Test
    void shouldNeedNeitherUnsafeNorOtherNativeAccess() throws Exception {
        assertThat(run(List.of(DENY_UNSAFE, DENY_NATIVE, "-jar", jar.toString()), "object"))
                .containsExactly("to Ada", "42");
    }

    @Test
    void shouldNamePageOnceWithoutTheFlag() throws Exception {
        List<String> lines = run(List.of("-jar", jar("none.jar", "").toString()), "object");
        assertThat(lines).endsWith("to Ada", "42");
        // The rest is the JVM's.
        assertThat(lines.subList(0, lines.size() - 2))
                .filteredOn(line -> !line.isEmpty() && !line.startsWith("WARNING: "))
                .singleElement()
                .asString()
                .contains("--enable-native-access=ALL-UNNAMED", "docs/jvm-flags.md");
    }

    @Test
    void shouldLoadKryoOnlyWhenAnObjectTravels() throws Exception {
        assertThat(classesOfKryo("idle.log")).isEmpty();
        assertThat(classesOfKryo("busy.log", "object")).isNotEmpty();
    }

    private List<String> classesOfKryo(String name, String... arguments) throws IOException, InterruptedException {
        Path log = directory.resolve(name);
        run(List.of("-Xlog:class+load:file=" + log, "-jar", jar.toString()), arguments);
        try (var lines = Files.lines(log)) {
            return lines.filter(line -> line.contains("com.esotericsoftware")).toList();
        }
    }
}
