package dev.rackcall.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.rackcall.testkit.ChildJvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** A soak that could not fail would prove nothing: a survivor that leaks is named, with what it leaks. */
class ProcessSampleTest {
    @Test
    void shouldNameWhatASurvivorLeaks() throws Exception {
        Path file = Files.createTempFile(Path.of("/dev/shm"), "rackcall-soak-test", "");
        try (Survivor survivor = new Survivor(
                SoakTransport.MEMORY,
                "fake",
                ChildJvm.of(LeakingChild.class, file).flags(Peers.FLAGS).start())) {
            survivor.awaitReady();
            survivor.calmSample();
            assertThat(leak(survivor, "descriptor")).containsExactly("descriptors of files");
            assertThat(leak(survivor, "thread")).containsExactly("threads leaked");
            assertThat(leak(survivor, "mapping")).containsExactlyInAnyOrder("mappings of shared memory", "shared KiB");
            assertThat(leak(survivor, "native")).containsExactly("private KiB");
            assertThat(leak(survivor, "heap")).containsExactly("heap-KiB");
            assertThat(survivor.counter("calls")).isEqualTo(5);
            survivor.end();
        } finally {
            Files.delete(file);
        }
    }

    /** What has grown by one leak. */
    private static Set<String> leak(Survivor survivor, String what) throws Exception {
        Map<String, Long> before = survivor.calmSample();
        survivor.ask("leak " + what);
        return ProcessSample.grown(before, survivor.calmSample()).keySet();
    }

    @Test
    void shouldAcceptWhatShrinks() {
        assertThat(ProcessSample.grown(Map.of("threads N", 2L), Map.of("threads N", 1L)))
                .isEmpty();
        assertThat(ProcessSample.grown(Map.of(), Map.of("threads N", 1L))).containsEntry("threads N", 1L);
    }

    @Test
    void shouldNameASurvivorWithAWrongAnswer() throws Exception {
        ChildJvm process = ChildJvm.of(LeakingChild.class, "none")
                .flags(Peers.FLAGS)
                .mergingErrors()
                .start();
        try (Survivor survivor = new Survivor(SoakTransport.MEMORY, "fake", process)) {
            survivor.awaitReady();
            assertThat(catchThrowable(() -> survivor.ask("leak nothing")))
                    .hasMessageContaining("IllegalArgumentException: nothing");
            assertThat(survivor.kill().orElseThrow())
                    .contains("memory fake", "exit code " + SoakChild.WRONG, "IllegalArgumentException: nothing");
        }
    }
}
