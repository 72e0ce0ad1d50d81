package dev.rackcall.shm.os.file;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.shm.os.file.HostFeatures.Trial;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The trials agree with other information from the kernel. */
class HostFeaturesTest {
    @Test
    void shouldGiveAReasonIfAndOnlyIfATrialFails() {
        for (Trial trial : List.of(
                HostFeatures.hugePages(),
                HostFeatures.memoryNodes(),
                HostFeatures.protectionKeys(),
                HostFeatures.memorySeals())) {
            assertThat(trial.reason().isEmpty()).as(trial.toString()).isEqualTo(trial.works());
        }
    }

    @Test
    void shouldFindProtectionKeysWhereTheProcessorHasThemOn() throws IOException {
        boolean on = Files.readAllLines(Path.of("/proc/cpuinfo")).stream()
                .anyMatch(line -> line.startsWith("flags") && line.contains(" ospke"));
        if (!on) {
            assertThat(HostFeatures.protectionKeys().works()).isFalse();
        }
        assertThat(HostFeatures.protectionKeys())
                .as("a trial gives its key back")
                .isEqualTo(lastOf(100));
    }

    private static Trial lastOf(int trials) {
        Trial trial = HostFeatures.protectionKeys();
        for (int i = 1; i < trials; i++) {
            trial = HostFeatures.protectionKeys();
        }
        return trial;
    }

    @Test
    void shouldFindNoHugePagesWhereNoneAreReserved() throws IOException {
        Path free = Path.of("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");
        Path more = Path.of("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_overcommit_hugepages");
        boolean none = !Files.exists(free)
                || (Files.readString(free).strip().equals("0")
                        && Files.readString(more).strip().equals("0"));
        if (none) {
            assertThat(HostFeatures.hugePages().works()).isFalse();
            assertThat(HostFeatures.hugePages().reason()).contains("huge");
        }
    }

    @Test
    void shouldAgreeWithNuma() {
        assertThat(HostFeatures.memoryNodes().works())
                .isEqualTo(Numa.available().isPresent());
    }
}
