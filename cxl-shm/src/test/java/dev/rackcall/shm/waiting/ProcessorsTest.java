package dev.rackcall.shm.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.shm.os.Affinity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ProcessorsTest {
    @TempDir
    private Path mounts;

    @Test
    void shouldCountNoMoreThanTheProcessMayUse() {
        assertThat(Processors.count()).isBetween(1, Affinity.ofProcess().length);
    }

    @Test
    void shouldCountTheProcessorsWhoseWholeTimeTheQuotaAllows() {
        assertThat(Processors.atMost(2, Double.POSITIVE_INFINITY)).isEqualTo(2);
        assertThat(Processors.atMost(2, 1)).isEqualTo(1);
        assertThat(Processors.atMost(8, 3.5)).isEqualTo(3);
        assertThat(Processors.atMost(8, 0.2)).isEqualTo(1);
    }

    @Test
    void shouldTakeTheLeastQuotaOfTheGroupsAbove() throws IOException {
        write("pod/cpu.max", "150000 100000");
        write("pod/container/cpu.max", "max 100000");
        assertThat(quota("0::/pod/container")).isEqualTo(1.5);
        assertThat(quota("0::/other")).isInfinite();
    }

    @Test
    void shouldReadVersion1() throws IOException {
        write("cpu/job/cpu.cfs_quota_us", "100000");
        write("cpu/job/cpu.cfs_period_us", "50000");
        write("cpu/cpu.cfs_quota_us", "-1");
        write("cpu/cpu.cfs_period_us", "100000");
        assertThat(quota("3:memory:/job", "2:cpu,cpuacct:/job", "0::/")).isEqualTo(2);
        assertThat(quota("2:cpu:/")).isInfinite();
    }

    @Test
    void shouldSeeTheGroupOfAContainerThatIsMountedAsTheHighest() throws IOException {
        write("cpu.max", "50000 100000");
        assertThat(quota("0::/system.slice/hidden.scope")).isEqualTo(0.5);
        assertThat(quota("0::/../outside")).isInfinite();
    }

    @Test
    void shouldKnowNoLimitWhereFilesAreMissingOrDifferent() throws IOException {
        assertThat(Processors.quota(mounts.resolve("none"), mounts)).isInfinite();
        write("cpu.max", "");
        assertThat(quota("0::/", "0::", "nothing", "")).isInfinite();
        write("cpu.max", "many 100000");
        assertThat(quota("0::/")).isInfinite();
    }

    private double quota(String... memberships) throws IOException {
        Path file = mounts.resolve("memberships");
        Files.write(file, List.of(memberships));
        return Processors.quota(file, mounts);
    }

    private void write(String file, String line) throws IOException {
        Path path = mounts.resolve(file);
        Files.createDirectories(path.getParent());
        Files.write(path, List.of(line));
    }
}
