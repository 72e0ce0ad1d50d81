package dev.rackcall.shm.os.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Uses control groups made of ordinary files. */
class ControlGroupsTest {
    @TempDir
    private Path root;

    private ControlGroups groups;

    @BeforeEach
    void makeGroups() {
        groups = new ControlGroups(root.resolve("memberships"), root.resolve("mounts"));
    }

    private void write(String file, String text) throws IOException {
        Path path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }

    private void assertNoLimit() {
        assertThat(groups.availableBytes()).isEqualTo(Long.MAX_VALUE);
        assertThat(groups.limitBytes()).isEmpty();
    }

    @Test
    void shouldFindNoLimitWhereThereAreNoGroups() throws IOException {
        assertNoLimit();
        write("memberships", "nonsense\n0::/\n");
        assertNoLimit();
    }

    @Test
    void shouldReadVersion2() throws IOException {
        write("memberships", "0::/\n");
        write("mounts/memory.max", "max\n");
        write("mounts/memory.current", "1000\n");
        assertNoLimit();
        write("mounts/memory.max", "5000\n");
        write("mounts/memory.stat", "anon 1\ninactive_file 300\n");
        assertThat(groups.availableBytes()).isEqualTo(4300);
        assertThat(groups.limitBytes()).hasValue(5000);
        write("mounts/memory.current", "9000\n");
        assertThat(groups.availableBytes()).isZero();
    }

    @Test
    void shouldReadVersion1() throws IOException {
        write("memberships", "5:cpu,cpuacct:/\n4:memory:/jobs/17\n0::/\n");
        write("mounts/unified/cgroup.procs", "");
        write("mounts/memory/memory.limit_in_bytes", "9223372036854771712\n");
        write("mounts/memory/memory.usage_in_bytes", "7000\n");
        write("mounts/memory/jobs/17/memory.limit_in_bytes", "9223372036854771712\n");
        write("mounts/memory/jobs/17/memory.usage_in_bytes", "3000\n");
        assertNoLimit();
        write("mounts/memory/jobs/17/memory.limit_in_bytes", "8192\n");
        write("mounts/memory/jobs/17/memory.stat", "cache 1\ninactive_file 5\ntotal_inactive_file 200\n");
        assertThat(groups.availableBytes()).isEqualTo(5392);
        assertThat(groups.limited()).containsExactly(root.resolve("mounts/memory/jobs/17"));
        write("mounts/memory/jobs/memory.limit_in_bytes", "16384\n");
        assertThat(groups.limited())
                .containsExactly(root.resolve("mounts/memory/jobs"), root.resolve("mounts/memory/jobs/17"));
        assertThat(groups.limitBytes()).hasValue(8192);
    }

    @Test
    void shouldTakeTheLeastOfAllGroupsAbove() throws IOException {
        write("memberships", "0::/user.slice/app.service\n");
        write("mounts/user.slice/memory.max", "6000\n");
        write("mounts/user.slice/memory.current", "5900\n");
        write("mounts/user.slice/app.service/memory.max", "2000\n");
        write("mounts/user.slice/app.service/memory.current", "100\n");
        assertThat(groups.availableBytes()).isEqualTo(100);
        assertThat(groups.limitBytes()).hasValue(2000);
    }

    @Test
    void shouldReadAContainersOwnGroupWhoseParentsAreHidden() throws IOException {
        write("memberships", "4:memory:/docker/0123456789ab\n");
        write("mounts/memory/memory.limit_in_bytes", "4096\n");
        write("mounts/memory/memory.usage_in_bytes", "96\n");
        assertThat(groups.availableBytes()).isEqualTo(4000);
    }

    @Test
    void shouldNotLeaveTheMountWhateverThePathSays() throws IOException {
        write("memberships", "0::/../../x\n");
        write("memory.max", "1\n");
        write("memory.current", "0\n");
        assertNoLimit();
    }
}
