package dev.rackcall.perf.crowd;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class QuotaGroupTest {
    @TempDir
    private Path root;

    private Path mounts;
    private Path memberships;

    @BeforeEach
    void makeRoots() throws IOException {
        mounts = Files.createDirectory(root.resolve("mounts"));
        memberships = root.resolve("memberships");
    }

    @Test
    void shouldTryTheOwnGroupFirstAndTheRootLast() throws Exception {
        Path inner = Files.createDirectories(mounts.resolve("user.slice").resolve("session.scope"));
        Files.createFile(mounts.resolve("cgroup.controllers"));
        assertThat(QuotaGroup.around(List.of("0::/user.slice/session.scope"), mounts))
                .containsExactly(inner, inner.getParent(), mounts);
        assertThat(QuotaGroup.around(List.of("0::/a/container/elsewhere"), mounts))
                .containsExactly(mounts);
    }

    @Test
    void shouldFindTheControllerOfVersion1() throws Exception {
        Path inner = Files.createDirectories(mounts.resolve("cpu").resolve("job"));
        assertThat(QuotaGroup.around(List.of("7:memory:/job", "1:cpu,cpuacct:/job", "0::/"), mounts))
                .containsExactly(inner, inner.getParent());
        assertThat(QuotaGroup.around(List.of("7:memory:/job", "0::/"), mounts)).isEmpty();
    }

    @Test
    void shouldSayWhyThereIsNoGroupAndLeaveNothingBehind() throws Exception {
        Files.createFile(mounts.resolve("cgroup.controllers"));
        Files.writeString(memberships, "0::/\n");
        assertThatThrownBy(() -> QuotaGroup.create(memberships, mounts))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("cpu.max does not exist: the controller cpu is not enabled there");
        assertThat(mounts).isDirectoryNotContaining(Files::isDirectory);

        Files.writeString(memberships, "");
        assertThatThrownBy(() -> QuotaGroup.create(memberships, mounts))
                .hasMessageContaining("there is no mounted controller cpu in " + mounts);
    }
}
