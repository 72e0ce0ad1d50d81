package dev.rackcall.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cli.Finding.Level;
import dev.rackcall.shm.os.Errno;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the checks against hosts made of files: each finding names the one command that mends it. */
class ContainerChecksTest {
    @TempDir
    private Path root;

    private final Map<String, String> environment = new HashMap<>();
    private OptionalInt userfaultfdErrno = OptionalInt.empty();
    private boolean nanoseconds = true;

    private final HostTrials trials = new HostTrials() {
        @Override
        OptionalInt userfaultfdErrno() {
            return userfaultfdErrno;
        }

        @Override
        boolean nanosecondWaits() {
            return nanoseconds;
        }
    };

    @BeforeEach
    void makeHost() throws IOException {
        write("/sys/devices/system/cpu/online", "0-3,8\n");
        write("/proc/self/status", "Seccomp:\t0\nCpus_allowed_list:\t0-3,8\n");
        write("/proc/self/cgroup", "0::/user.slice/jobs\n");
        write("/proc/sys/kernel/osrelease", "6.1.0-37-amd64\n");
    }

    private void write(String absolute, String text) throws IOException {
        Path file = new HostFiles(root).path(absolute);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private Finding finding(String subject) {
        return new ContainerChecks(new HostFiles(root), trials, environment)
                .findings().stream()
                        .filter(each -> each.subject().equals(subject))
                        .findFirst()
                        .orElseThrow();
    }

    @Test
    void shouldFindNothingRestricted() throws IOException {
        write("/sys/fs/cgroup/user.slice/cpu.max", "max 100000\n");
        assertThat(new ContainerChecks(new HostFiles(root), trials, environment).findings())
                .extracting(Finding::level)
                .containsExactly(Level.OK, Level.OK, Level.OK);
        assertThat(new ContainerChecks(new HostFiles(root.resolve("empty")), trials, environment).findings())
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
    }

    @Test
    void shouldWidenTheCpusetIfThatIsTheLimit() throws IOException {
        write("/proc/self/status", "Cpus_allowed_list:\t8\n");
        write("/proc/self/cgroup", "0::/system.slice/shop.service\n");
        write("/sys/fs/cgroup/cpuset.cpus.effective", "0-3,8\n");
        write("/sys/fs/cgroup/system.slice/cpuset.cpus.effective", "2-3,8\n");
        write("/sys/fs/cgroup/system.slice/shop.service/cpuset.cpus.effective", "8\n");
        assertThat(finding("cpuset").sentence())
                .endsWith("For two: sudo systemctl set-property shop.service AllowedCPUs=2,3");

        // The service cannot have more than the group above it.
        write("/sys/fs/cgroup/system.slice/cpuset.cpus.effective", "8\n");
        assertThat(finding("cpuset").sentence())
                .endsWith("For two: echo 0,1 | sudo tee /sys/fs/cgroup/system.slice/cpuset.cpus");

        write("/proc/self/cgroup", "0::/\n");
        write("/sys/fs/cgroup/cpuset.cpus.effective", "8\n");
        write("/.dockerenv", "");
        assertThat(finding("cpuset").sentence()).endsWith("docker update --cpuset-cpus=0,1 CONTAINER, on its host");
    }

    @Test
    void shouldWidenTheAffinityIfThatIsTheLimit() throws IOException {
        write("/proc/self/status", "Cpus_allowed_list:\t8\n");
        write("/proc/self/cgroup", "0::/system.slice/shop.service\n");
        write("/sys/fs/cgroup/system.slice/cpuset.cpus.effective", "2-3,8\n");
        assertThat(finding("cpuset").sentence())
                .endsWith("For two: sudo systemctl edit shop.service, and there [Service] CPUAffinity=2,3;"
                        + " take any taskset out of its ExecStart=");
        write("/proc/self/cgroup", "0::/system.slice/session-3.scope\n");
        assertThat(finding("cpuset").sentence()).contains("For two: taskset -acp 2,3 ");
        write("/.dockerenv", "");
        assertThat(finding("cpuset").sentence()).contains("For two: taskset -acp 2,3 ");

        write("/proc/self/cgroup", "4:cpuset:/docker/1f\n");
        assertThat(finding("cpuset").sentence()).as("of a hidden group").contains("docker update --cpuset-cpus=0,1 ");
        write("/sys/fs/cgroup/cpuset/cpuset.effective_cpus", "0-3\n");
        assertThat(finding("cpuset").sentence()).contains("For two: taskset -acp 0,1 ");
    }

    @Test
    void shouldAskTheUsersManagerForItsServices() throws IOException {
        String group = "/user.slice/user-1000.slice/user@1000.service/app.slice/shop.service";
        write("/proc/self/cgroup", "0::" + group + "\n");
        write("/sys/fs/cgroup" + group + "/cpu.max", "50000 100000\n");
        assertThat(finding("cpu quota").sentence()).endsWith(": systemctl --user set-property shop.service CPUQuota=");

        write("/proc/self/status", "Seccomp:\t2\n");
        userfaultfdErrno = OptionalInt.of(Errno.EPERM);
        assertThat(finding("seccomp").sentence())
                .contains("Only if systemctl --user show -p SystemCallFilter", ": systemctl --user edit shop.service");

        // The manager itself is a service of the system.
        write("/proc/self/cgroup", "0::/user.slice/user-1000.slice/user@1000.service\n");
        assertThat(finding("seccomp").sentence()).contains("sudo systemctl edit user@1000.service");
    }

    @Test
    void shouldNameTheSettingsOfKubernetes() throws IOException {
        environment.put("KUBERNETES_SERVICE_HOST", "10.0.0.1");
        write("/run/.containerenv", ""); // CRI-O's
        write("/proc/self/cgroup", "0::/\n");
        write("/sys/fs/cgroup/cpu.max", "150000 100000\n");
        assertThat(finding("cpu quota").sentence())
                .endsWith("remove resources.limits.cpu from the container's specification, or set it to 5");

        write("/proc/self/status", "Seccomp:\t2\nCpus_allowed_list:\t8\n");
        write("/sys/fs/cgroup/cpuset.cpus.effective", "8\n");
        assertThat(finding("cpuset").sentence())
                .endsWith("set resources.limits.cpu and resources.requests.cpu to 2 in the container's specification");
        userfaultfdErrno = OptionalInt.of(Errno.EPERM);
        String architecture = System.getProperty("os.arch").replace("aarch64", "arm64");
        assertThat(finding("seccomp").sentence())
                .contains(
                        "To allow that, on each node: curl -fsSL https://",
                        " -o default.json && jq '.syscalls |= map(select(.includes.caps == null and "
                                + "((.includes.arches // [\"amd64\"]) | index(\"amd64\")) and "
                                        .replace("amd64", architecture)
                                + "((.excludes.arches // []) | index(\"amd64\") | not))".replace("amd64", architecture)
                                + " | del(.includes, .excludes, .comment)) | del(.archMap)"
                                + " | .syscalls += [{names: [\"userfaultfd\"], action: \"SCMP_ACT_ALLOW\"}]' default.json"
                                + " > rackcall-seccomp.json && sudo install ")
                .endsWith("; then kubectl patch deployment NAME --patch '{\"spec\":{\"template\":{\"spec\":"
                        + "{\"securityContext\":{\"seccompProfile\":{\"type\":\"Localhost\","
                        + "\"localhostProfile\":\"rackcall-seccomp.json\"}}}}}}'");
    }

    @Test
    void shouldNameTheGroupWithTheLeastTime() throws IOException {
        write("/sys/fs/cgroup/user.slice/jobs/cpu.max", "400000 100000\n");
        write("/sys/fs/cgroup/user.slice/cpu.max", "150000 100000\n");
        write("/sys/fs/cgroup/user.slice/cpu.stat", "nr_periods 50\nnr_throttled 37\n");
        assertThat(finding("cpu quota").level()).isEqualTo(Level.NOTE);
        assertThat(finding("cpu quota").sentence())
                .contains("time of 1.5 of its 5 processors", "throttled it 37 times so far", "rest of 100 ms")
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
        assertThat(finding("cpu quota").sentence())
                .endsWith("podman update --cpus=5 CONTAINER, on its host,"
                        + " or --cpu-quota=-1, if it was started with --cpu-quota");
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
        write("/.dockerenv", "");
        assertThat(finding("seccomp").level()).isEqualTo(Level.OK);

        nanoseconds = false;
        assertThat(seccomp())
                .singleElement()
                .satisfies(finding -> assertThat(finding.sentence())
                        .isEqualTo(
                                "A filter refuses epoll_pwait2, so waits last whole milliseconds. To allow that: curl"
                                        + " -fsSL https://raw.githubusercontent.com/moby/profiles/main/seccomp/default.json"
                                        + " -o default.json"
                                        + " && jq '.syscalls += [{names: [\"epoll_pwait2\"], action: \"SCMP_ACT_ALLOW\"}]'"
                                        + " default.json > rackcall-seccomp.json"
                                        + " && docker run --security-opt seccomp=rackcall-seccomp.json IMAGE"));
        userfaultfdErrno = OptionalInt.of(Errno.ENOSYS);
        assertThat(seccomp())
                .singleElement()
                .satisfies(finding -> assertThat(finding.level()).isEqualTo(Level.NOTE))
                .satisfies(finding -> assertThat(finding.sentence())
                        .startsWith(
                                "A filter refuses userfaultfd and epoll_pwait2, so sealed calls are sent as snapshots"
                                        + " and waits last whole milliseconds. ")
                        .contains("{names: [\"userfaultfd\", \"epoll_pwait2\"], action:"));
        nanoseconds = true;
        write("/run/.containerenv", "");
        Files.delete(root.resolve(".dockerenv"));
        assertThat(finding("seccomp").sentence())
                .startsWith("A filter refuses userfaultfd, so sealed calls are sent as snapshots. To allow that: jq '")
                .endsWith(" /usr/share/containers/seccomp.json > rackcall-seccomp.json"
                        + " && podman run --security-opt seccomp=rackcall-seccomp.json IMAGE")
                .doesNotContain("epoll_pwait2");

        write("/proc/self/status", "Seccomp:\t0\n");
        assertThat(seccomp()).singleElement().extracting(Finding::level).isEqualTo(Level.OK);
    }

    /** RestrictNamespaces= and other settings of systemd give mode 2, too. */
    @Test
    void shouldNotBlameAFilterForWhatItCannotHaveRefused() throws IOException {
        write("/proc/self/status", "Seccomp:\t2\n");
        userfaultfdErrno = OptionalInt.of(Errno.EINVAL);
        assertThat(seccomp()).singleElement().extracting(Finding::level).isEqualTo(Level.OK);
        userfaultfdErrno = OptionalInt.of(Errno.EMFILE);
        assertThat(seccomp()).singleElement().extracting(Finding::level).isEqualTo(Level.OK);

        userfaultfdErrno = OptionalInt.of(Errno.EPERM);
        nanoseconds = false;
        write("/proc/sys/kernel/osrelease", "5.10.0-28-amd64\n");
        assertThat(seccomp()).singleElement().extracting(Finding::level).isEqualTo(Level.OK);
        write("/proc/sys/kernel/osrelease", "5.18.0-4-amd64\n");
        assertThat(seccomp())
                .singleElement()
                .satisfies(finding -> assertThat(finding.sentence()).startsWith("A filter refuses epoll_pwait2"));
    }

    /** In a unit without a filter, two names alone would forbid all other calls. */
    @Test
    void shouldAddToTheFilterOfAServiceOnlyIfItHasOne() throws IOException {
        write("/proc/self/status", "Seccomp:\t2\n");
        userfaultfdErrno = OptionalInt.of(Errno.EPERM);
        write("/proc/self/cgroup", "0::/system.slice/shop.service\n");
        assertThat(finding("seccomp").sentence())
                .endsWith(" Only if systemctl show -p SystemCallFilter --value shop.service prints names,"
                        + " allow it: sudo systemctl edit shop.service, and there [Service]"
                        + " SystemCallFilter=@system-service userfaultfd epoll_pwait2."
                        + " In a unit without such names, that line may kill the service.");

        write("/proc/self/cgroup", "0::/user.slice/jobs\n");
        assertThat(finding("seccomp").sentence())
                .endsWith("add userfaultfd to the filter of the program that started this process");
    }

    @Test
    void shouldFindOutWhyUserfaultfdFails() {
        HostTrials real = new HostTrials();
        assertThat(real.userfaultfdErrno().isEmpty())
                .isEqualTo(real.userfaultfd().works());
    }

    private List<Finding> seccomp() {
        return new ContainerChecks(new HostFiles(root), trials, environment)
                .findings().stream()
                        .filter(each -> each.subject().equals("seccomp"))
                        .toList();
    }
}
