package dev.rackcall.sandbox.os;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.sandbox.Probe;
import dev.rackcall.sandbox.Skip;
import dev.rackcall.testkit.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The guard in child processes, because a mistake in it would end this JVM. */
class GuardTest {
    @TempDir
    private Path folder;

    @BeforeEach
    void needCompiler() {
        Skip.unless(() -> new GuardBuild(System.getenv()).library());
    }

    @ParameterizedTest
    @ValueSource(strings = {"-Xint", "-XX:TieredStopAtLevel=1 -Xcomp", "-XX:-TieredCompilation -Xbatch"})
    void shouldTurnFaultsByMprotectIntoErrors(String flags) {
        String rounds = flags.contains("Xbatch") ? "30000" : "3";
        List<String> arguments = new ArrayList<>(List.of("guarded mprotect", rounds));
        if (!flags.equals("-Xint")) {
            arguments.add("atomics too");
        }

        ChildJvm.Result result = Probe.of(folder, StoreProbe.class, arguments.toArray())
                .flags(flags.split(" "))
                .run();

        assertThat(result.output()).contains("all refused");
        assertThat(result.exitCode()).isZero();
    }

    @Test
    void shouldLeaveFaultsByUserfaultfdAsTheyAre() {
        Skip.unless(Userfault::open).close();

        assertThat(Probe.of(folder, StoreProbe.class, "guarded userfaultfd", "3")
                        .run()
                        .output())
                .contains("all refused");
    }

    @Test
    void shouldSayWhereTheFaultWas() {
        assertThat(Probe.of(folder, GuardProbe.class, "address").run().output()).isEqualTo("went on\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"-Xint", "-XX:TieredStopAtLevel=1", "-XX:-TieredCompilation"})
    void shouldLeaveTheJvmItsOwnSignals(String flags) {
        assertThat(Probe.of(folder, GuardProbe.class, "exceptions of the JVM")
                        .flags(flags)
                        .run()
                        .output())
                .isEqualTo("went on\n");
    }

    @ParameterizedTest
    @ValueSource(strings = {"wild address", "page of another mapping", "page that is no longer registered"})
    void shouldLetTheJvmEndAsEverAtOtherFaults(String kind) {
        ChildJvm.Result result = Probe.of(folder, GuardProbe.class, kind).run();

        assertThat(result.output())
                .contains("A fatal error has been detected by the Java Runtime Environment", "SIGSEGV", "hs_err_pid")
                .doesNotContain("went on");
        assertThat(result.exitCode()).isNotZero();
    }

    // ---- the build

    @Test
    void shouldBuildOnceAndInAFolderOfThisUserOnly() throws IOException {
        GuardBuild build = build(Map.of());
        Path library = build.library();
        FileTime first = Files.getLastModifiedTime(library);

        assertThat(build.library()).isEqualTo(library);
        assertThat(Files.getLastModifiedTime(library)).isEqualTo(first);
        assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(library.getParent())))
                .isEqualTo("rwx------");
        try (var files = Files.list(library.getParent())) {
            assertThat(files).containsExactly(library);
        }
    }

    @Test
    void shouldNotLoadWhatOthersCanHavePutThere() throws IOException {
        GuardBuild build = build(Map.of());
        Path library = build.library();
        Files.writeString(library, "something else");
        Files.setPosixFilePermissions(library, PosixFilePermissions.fromString("rw-rw-rw-"));

        assertThat(build.library()).isEqualTo(library);
        assertThat(Files.size(library)).isGreaterThan(1000);
        new LibGuard(library).version();
    }

    @Test
    void shouldNotUseAFolderThatOthersMayWrite() throws IOException {
        Path cache = Files.createDirectory(folder.resolve("rackcall"));
        Files.setPosixFilePermissions(cache, PosixFilePermissions.fromString("rwxrwxrwx"));

        assertThatThrownBy(() -> build(Map.of()).library())
                .isInstanceOf(UnsupportedFeatureException.class)
                .hasMessageContaining("others may write there");
    }

    @Test
    void shouldSayThatThereIsNoCompiler() {
        assertThatThrownBy(() -> build(Map.of("PATH", folder.toString())).library())
                .isInstanceOf(UnsupportedFeatureException.class)
                .hasMessage(
                        "There is no C compiler on the path, so the guard is off; install one, such as the package gcc.");
    }

    @Test
    void shouldSayWhatTheCompilerSaid() throws IOException {
        Path compiler = Files.writeString(folder.resolve("cc"), "#!/bin/sh\necho no room on this disk\nexit 1\n");
        Files.setPosixFilePermissions(compiler, PosixFilePermissions.fromString("rwxr-xr-x"));

        assertThatThrownBy(() -> build(Map.of("PATH", folder.toString())).library())
                .isInstanceOf(UnsupportedFeatureException.class)
                .hasMessageContaining("no room on this disk");
    }

    private GuardBuild build(Map<String, String> changes) {
        Map<String, String> environment = new java.util.HashMap<>(System.getenv());
        environment.put("XDG_CACHE_HOME", folder.toString());
        environment.putAll(changes);
        return new GuardBuild(environment);
    }
}
