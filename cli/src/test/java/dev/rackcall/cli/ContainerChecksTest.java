package dev.rackcall.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cli.Finding.Level;
import dev.rackcall.shm.os.file.HostFeatures.Trial;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the checks against hosts made of files: each finding names the one command that mends it. */
class ContainerChecksTest {
    @TempDir
    private Path root;

    private boolean refuses;

    private final HostTrials trials = new HostTrials() {
        @Override
        Trial userfaultfd() {
            return refuses ? Trial.failure("EPERM") : Trial.success();
        }

        @Override
        boolean nanosecondWaits() {
            return !refuses;
        }
    };

    @BeforeEach
    void makeHost() throws IOException {
        write("/sys/devices/system/cpu/online", "0-3,8\n");
        write("/proc/self/status", "Seccomp:\t0\nCpus_allowed_list:\t0-3,8\n");
        write("/proc/self/cgroup", "0::/user.slice/jobs\n");
    }

    private void write(String absolute, String text) throws IOException {
        Path file = new HostFiles(root).path(absolute);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private Finding finding(String subject) {
        return new ContainerChecks(new HostFiles(root), trials)
                .findings().stream()
                        .filter(each -> each.subject().equals(subject))
                        .findFirst()
                        .orElseThrow();
    }

    @Test
    void shouldFindNothingRestricted() throws IOException {
        write("/sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
        assertThat(new ContainerChecks(new HostFiles(root), trials).findings())
                .extracting(Finding::level)
                .containsExactly(Level.OK, Level.OK, Level.OK);
        assertThat(new ContainerChecks(new HostFiles(root.resolve("empty")), trials).findings())
                .extracting(Finding::level)
                .containsExactly(Level.OK, Level.OK, Level.OK);
    }

    @Test
    void shouldCountTheProcessorsOfACpuset() throws IOException {
        write("/proc/self/status", "Cpus_allowed_list:\t0,8\n");
        assertThat(finding("cpuset")).isEqualTo(Finding.ok("cpuset", "This process may use 2 of 5 processors (0,8)."));

        write("/proc/self/status", "Cpus_allowed_list:\t8\n");
        assertThat(finding("cpuset").level()).isEqualTo(Level.NOTE);
        assertThat(finding("cpuset").sentence()).contains("1 of 5", "taskset -acp 0,1 ");
        write("/proc/self/cgroup", "0::/system.slice/shop.service\n");
        assertThat(finding("cpuset").sentence()).endsWith("sudo systemctl set-property shop.service AllowedCPUs=0,1");
        write("/.dockerenv", "");
        assertThat(finding("cpuset").sentence()).endsWith("docker update --cpuset-cpus=0,1 CONTAINER, on its host");
    }

    @Test
    void shouldNameTheGroupWithTheLeastTime() throws IOException {
        write("/sys/fs/cgroup/user.slice/jobs/cpu.max", "400000 100000\n");
        write("/sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n");
        write("/sys/fs/cgroup/user.slice/cpu.stat", "nr_periods 50\nnr_throttled 37\n");
        assertThat(finding("cpu quota").level()).isEqualTo(Level.NOTE);
        assertThat(finding("cpu quota").sentence())
                .contains("time of 1.5 of its 5 processors", "stopped it 37 times", "rest of 100 ms")
                .endsWith("echo max | sudo tee /sys/fs/cgroup/user.slice/cpu.max");

        // Not less than the processors have.
        write("/proc/self/status", "Cpus_allowed_list:\t0\n");
        assertThat(finding("cpu quota").level()).isEqualTo(Level.OK);
    }

    @Test
    void shouldLiftTheQuotaOfAServiceAndOfAContainer() throws IOException {
        write("/proc/self/cgroup", "0::/system.slice/shop.service\n");
        write("/sys/fs/cgroup/system.slice/shop.service/cpu.max", "50000 100000\n");
        assertThat(finding("cpu quota").sentence()).endsWith("sudo systemctl set-property shop.service CPUQuota=");
        // In a container, the mount begins at its group.
        write("/run/.containerenv", "");
        assertThat(finding("cpu quota").sentence()).endsWith("podman update --cpu-quota=-1 CONTAINER, on its host");
    }

    @Test
    void shouldReadQuotasOfVersion1() throws IOException {
        write("/proc/self/cgroup", "3:cpu,cpuacct:/jobs\n0::/\n");
        write("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
        write("/sys/fs/cgroup/cpu/jobs/cpu.cfs_quota_us", "25000\n");
        write("/sys/fs/cgroup/cpu/jobs/cpu.cfs_period_us", "50000\n");
        assertThat(finding("cpu quota").sentence())
                .contains("time of 0.5 of", "rest of 50 ms")
                .endsWith("echo -1 | sudo tee /sys/fs/cgroup/cpu/jobs/cpu.cfs_quota_us");
    }

    @Test
    void shouldSayWhichSystemCallsAFilterRefuses() throws IOException {
        write("/proc/self/status", "Seccomp:\t2\n");
        assertThat(finding("seccomp").level()).isEqualTo(Level.OK);
        refuses = true;
        write("/.dockerenv", "");
        assertThat(finding("seccomp").level()).isEqualTo(Level.NOTE);
        assertThat(finding("seccomp").sentence())
                .contains("userfaultfd", "epoll_pwait2", "docker run --security-opt seccomp=PROFILE.json");

        // Not for want of permission: an old kernel.
        write("/proc/self/status", "Seccomp:\t0\n");
        assertThat(finding("seccomp").level()).isEqualTo(Level.OK);
    }
}
