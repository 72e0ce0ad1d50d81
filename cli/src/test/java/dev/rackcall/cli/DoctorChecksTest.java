package dev.rackcall.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cli.Finding.Level;
import dev.rackcall.shm.os.file.HostFeatures.Trial;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs the checks against a host made of files. */
class DoctorChecksTest {
    @TempDir
    private Path root;

    private HostFiles host;
    private final FakeTrials trials = new FakeTrials();
    private final Map<String, String> environment = new HashMap<>();

    /** As if everything worked, unless a test says otherwise. */
    private static final class FakeTrials extends HostTrials {
        private Trial outcome = Trial.success();
        private boolean nanoseconds = true;
        private OptionalLong limit = OptionalLong.empty();

        @Override
        Trial hugePages() {
            return outcome;
        }

        @Override
        Trial memoryNodes() {
            return outcome;
        }

        @Override
        Trial protectionKeys() {
            return outcome;
        }

        @Override
        Trial memorySeals() {
            return outcome;
        }

        @Override
        Trial userfaultfd() {
            return outcome;
        }

        @Override
        boolean nanosecondWaits() {
            return nanoseconds;
        }

        @Override
        OptionalLong memoryLimit() {
            return limit;
        }
    }

    @BeforeEach
    void makeHost() {
        host = new HostFiles(root);
    }

    @Test
    void shouldFindNothingMissingOnANewKernel() throws IOException {
        write("/proc/sys/kernel/osrelease", "6.12.9-amd64\n");
        write("/proc/cpuinfo", "processor\t: 0\nflags\t\t: fpu pku ospke avx2\n");

        assertThat(new KernelChecks(host, trials).findings())
                .extracting(Finding::level)
                .containsOnly(Level.OK);
    }

    @Test
    void shouldReportAnOldKernelAsAProblem() throws IOException {
        write("/proc/sys/kernel/osrelease", "4.19.0-26-amd64\n");

        Finding kernel = finding(new KernelChecks(host, trials).findings(), "kernel");
        assertThat(kernel.level()).isEqualTo(Level.PROBLEM);
        assertThat(kernel.sentence()).contains("4.19.0-26-amd64").contains("5.1");

        trials.outcome = Trial.failure("This kernel has no userfaultfd.");
        assertThat(finding(new KernelChecks(host, trials).findings(), "userfaultfd"))
                .isEqualTo(Finding.note(
                        "userfaultfd", "A shared page could not be write-protected. This kernel has no userfaultfd."));
        assertThat(finding(new KernelChecks(host, trials).findings(), "mseal").sentence())
                .contains("4.19.0-26-amd64", "6.10");
    }

    @Test
    void shouldDistinguishDisabledFromMissingProtectionKeys() throws IOException {
        trials.outcome = Trial.failure("pkey_alloc: ENOSPC");
        write("/proc/cpuinfo", "flags\t\t: fpu pku ospke\n");
        assertThat(finding(new KernelChecks(host, trials).findings(), "protection keys")
                        .sentence())
                .contains("kernel support them", "ENOSPC");

        write("/proc/cpuinfo", "flags\t\t: fpu pku avx2\n");
        assertThat(finding(new KernelChecks(host, trials).findings(), "protection keys")
                        .sentence())
                .contains("kernel has turned them off");

        write("/proc/cpuinfo", "flags\t\t: fpu avx2\n");
        assertThat(finding(new KernelChecks(host, trials).findings(), "protection keys")
                        .sentence())
                .contains("has none");
    }

    @Test
    void shouldSayHowManyHugePagesAreFree() throws IOException {
        write("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "256\n");
        write("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "17\n");

        assertThat(finding(new MemoryChecks(host, trials, environment).findings(), "huge pages"))
                .isEqualTo(Finding.ok("huge pages", "A memfd got one of 2 MiB; 17 of 256 reserved ones are free."));

        trials.outcome = Trial.failure("ENOMEM");
        assertThat(finding(new MemoryChecks(host, trials, environment).findings(), "huge pages"))
                .isEqualTo(Finding.note(
                        "huge pages",
                        "17 of 256 reserved ones of 2 MiB are free, but a memfd got none: ENOMEM."
                                + " To reserve 512 MiB more: sudo sysctl vm.nr_hugepages=512"));

        write("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0\n");
        assertThat(finding(new MemoryChecks(host, trials, environment).findings(), "huge pages")
                        .sentence())
                .contains("None", "vm.nr_hugepages");
    }

    @Test
    void shouldBlameTheLeastExhaustedLimitOfHugePages() throws IOException {
        write("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "256\n");
        write("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "17\n");
        write("/proc/self/cgroup", "0::/user.slice/jobs/night\n");
        trials.outcome = Trial.failure("ENOMEM");
        limitHugePages("/user.slice/jobs/night", 67_108_864, 4_194_304);
        limitHugePages("/user.slice", 4_194_304, 2_097_152);
        assertThat(hugePages()).as("one page is left").endsWith("vm.nr_hugepages=512");

        limitHugePages("/user.slice/jobs", 8_388_608, 8_388_608);
        limitHugePages("/user.slice", 6_291_456, 6_291_456);
        assertThat(hugePages())
                .endsWith(" A control group limits them to 6291456 bytes, of which less than one page is left."
                        + " To lift that: echo max | sudo tee /sys/fs/cgroup/user.slice/hugetlb.2MB.max");

        // All that are free are promised to other mappings.
        write("/sys/kernel/mm/hugepages/hugepages-2048kB/resv_hugepages", "17\n");
        assertThat(hugePages()).endsWith("vm.nr_hugepages=512");
    }

    @Test
    void shouldNameTheLimitOfHugePagesAsTheHostOfAContainerDoes() throws IOException {
        write("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "256\n");
        write("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "17\n");
        write("/proc/self/cgroup", "0::/\n");
        trials.outcome = Trial.failure("ENOMEM");
        limitHugePages("", 2_097_152, 2_097_152);
        write("/.dockerenv", "");
        assertThat(hugePages())
                .endsWith("echo max | sudo tee /sys/fs/cgroup/GROUP/hugetlb.2MB.max, on the container's host, where"
                        + " /proc/PID/cgroup names GROUP, and docker inspect -f '{{.State.Pid}}' CONTAINER prints PID");

        environment.put("KUBERNETES_SERVICE_HOST", "10.0.0.1");
        assertThat(hugePages()).endsWith("raise resources.limits.hugepages-2Mi in the container's specification");
        write("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "0\n");
        assertThat(hugePages()).endsWith("vm.nr_hugepages=256, on the pod's node");

        environment.clear();
        write("/sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages", "256\n");
        write("/proc/self/cgroup", "5:hugetlb:/docker/1f\n");
        write("/sys/fs/cgroup/hugetlb/hugetlb.2MB.limit_in_bytes", "2097152\n");
        assertThat(hugePages()).as("nothing is used").endsWith("vm.nr_hugepages=512, on the container's host");
        write("/sys/fs/cgroup/hugetlb/hugetlb.2MB.usage_in_bytes", "2097152\n");
        assertThat(hugePages()).contains("echo -1 | sudo tee /sys/fs/cgroup/hugetlb/GROUP/hugetlb.2MB.limit_in_bytes,");
    }

    private void limitHugePages(String group, long limit, long used) throws IOException {
        write("/sys/fs/cgroup" + group + "/hugetlb.2MB.max", limit + "\n");
        write("/sys/fs/cgroup" + group + "/hugetlb.2MB.current", used + "\n");
    }

    private String hugePages() {
        return finding(new MemoryChecks(host, trials, environment).findings(), "huge pages")
                .sentence();
    }

    @Test
    void shouldSayWhichWaitIsUsed() {
        assertThat(finding(new LiveChecks(trials).findings(), "waits"))
                .isEqualTo(Finding.ok("waits", "Servers and clients wait for sockets by epoll_pwait2."));
        trials.nanoseconds = false;
        assertThat(finding(new LiveChecks(trials).findings(), "waits").sentence())
                .contains("epoll_wait,", "seccomp filter");
        assertThat(new HostTrials().nanosecondWaits()).isTrue();
    }

    @Test
    void shouldNameTheLimitOfAContainer() throws IOException {
        write("/proc/meminfo", "MemTotal:       16777216 kB\nMemAvailable:    8388608 kB\n");
        assertThat(finding(new MemoryChecks(host, trials, environment).findings(), "memory")
                        .sentence())
                .isEqualTo("8 GiB of 16 GiB are available, with no limit by a control group.");

        trials.limit = OptionalLong.of(512 << 20);
        assertThat(finding(new MemoryChecks(host, trials, environment).findings(), "memory")
                        .sentence())
                .contains("512 MiB");
    }

    @Test
    void shouldSuggestLibnumaOnlyOnNumaHosts() throws IOException {
        Files.createDirectories(host.path("/sys/devices/system/node/node0"));
        assertThat(level(new MemoryChecks(host, trials, environment).findings(), "NUMA"))
                .isEqualTo(Level.OK);

        Files.createDirectories(host.path("/sys/devices/system/node/node1"));
        assertThat(level(new MemoryChecks(host, trials, environment).findings(), "NUMA"))
                .isEqualTo(Level.OK);

        trials.outcome = Trial.failure("libnuma.so.1 is not installed");
        assertThat(finding(new MemoryChecks(host, trials, environment).findings(), "NUMA")
                        .sentence())
                .contains("is not installed", "libnuma1");
    }

    @Test
    void shouldListDevices() throws IOException {
        assertThat(new DeviceChecks(host).findings())
                .extracting(Finding::level)
                .containsOnly(Level.NOTE)
                .hasSize(2);

        write("/dev/dax0.0", "");
        write("/dev/infiniband/uverbs0", "");
        Files.createDirectories(host.path("/sys/class/infiniband/mlx5_0"));
        assertThat(finding(new DeviceChecks(host).findings(), "device-dax").sentence())
                .contains("/dev/dax0.0");
        assertThat(finding(new DeviceChecks(host).findings(), "RDMA"))
                .isEqualTo(Finding.ok("RDMA", "Devices: mlx5_0."));
    }

    @Test
    void shouldSayWhatTheRackTestLacks() {
        assertThat(DeviceChecks.rack(List.of()).level()).isEqualTo(Level.OK);
        assertThat(DeviceChecks.rack(List.of("ndctl (package ndctl)", "ip (package iproute2)"))
                        .sentence())
                .contains("ndctl (package ndctl), ip (package iproute2)");
    }

    @Test
    void shouldReadTheSoftLimitOfOpenFiles() throws IOException {
        write("/proc/self/limits", """
                Limit                     Soft Limit           Hard Limit           Units
                Max open files            256                  4096                 files
                """);

        Finding descriptors = finding(new ProcessChecks(host, Map.of()).findings(), "descriptors");
        assertThat(descriptors.level()).isEqualTo(Level.NOTE);
        assertThat(descriptors.sentence()).startsWith("256 open files");
    }

    @Test
    void shouldLookForACompilerOnThePath() throws IOException {
        Path cc = Files.createFile(root.resolve("cc"));
        Map<String, String> environment = Map.of("PATH", "/nonexistent::" + root);
        assertThat(level(new ProcessChecks(host, environment).findings(), "C compiler"))
                .isEqualTo(Level.NOTE);

        assertThat(cc.toFile().setExecutable(true)).isTrue();
        assertThat(finding(new ProcessChecks(host, environment).findings(), "C compiler")
                        .sentence())
                .startsWith(cc.toString());
    }

    @Test
    void shouldPassMemoryOverASocketOnThisHost() {
        assertThat(new LiveChecks(new HostTrials()).findings())
                .extracting(Finding::level)
                .containsOnly(Level.OK);
    }

    /** Whatever this host has: one sentence each, that says what to do where something is missing. */
    @Test
    void shouldSaySomethingAboutEachPartOfIsolation() {
        List<Finding> findings = new LiveChecks(new HostTrials()).findings();
        assertThat(findings).extracting(Finding::subject).containsExactly("shared memory", "waits", "seals", "guard");
        assertThat(findings).allSatisfy(finding -> {
            assertThat(finding.level()).isNotEqualTo(Level.PROBLEM);
            assertThat(finding.sentence()).endsWith(".");
        });
    }

    private void write(String absolute, String text) throws IOException {
        Path file = host.path(absolute);
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private static Level level(List<Finding> findings, String subject) {
        return finding(findings, subject).level();
    }

    private static Finding finding(List<Finding> findings, String subject) {
        return findings.stream()
                .filter(finding -> finding.subject().equals(subject))
                .findFirst()
                .orElseThrow(() -> new AssertionError("no finding about " + subject + " in " + findings));
    }
}
