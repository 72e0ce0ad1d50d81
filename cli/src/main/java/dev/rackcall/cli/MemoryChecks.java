package dev.rackcall.cli;

import dev.rackcall.cli.ControlGroupFiles.Setting;
import dev.rackcall.shm.os.ByteSize;
import dev.rackcall.shm.os.file.HostFeatures.Trial;
import java.io.IOException;
import java.nio.file.FileStore;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/** Checks how much memory pools may take, and of which kind. */
final class MemoryChecks {
    private static final long SMALL_SHM = 64L << 20;
    private static final long HUGE_PAGE_BYTES = 2L << 20;

    private final HostFiles host;
    private final HostTrials trials;
    private final ContainerEngine engine;

    MemoryChecks(HostFiles host, HostTrials trials, Map<String, String> environment) {
        this.host = host;
        this.trials = trials;
        engine = ContainerEngine.of(host, environment);
    }

    List<Finding> findings() {
        return List.of(memory(), sharedMemory(), hugePages(), numa());
    }

    /** Pages of a memfd count to the control group of the process that touched them first. */
    private Finding memory() {
        long available = meminfo("MemAvailable:");
        OptionalLong limit = trials.memoryLimit();
        String sentence =
                ByteSize.describe(available) + " of " + ByteSize.describe(meminfo("MemTotal:")) + " are available";
        return limit.isPresent()
                ? Finding.note(
                        "memory", sentence + "; this container may use " + ByteSize.describe(limit.getAsLong()) + ".")
                : Finding.ok("memory", sentence + ", with no limit by a control group.");
    }

    private long meminfo(String key) {
        return host.line("/proc/meminfo", key)
                .filter(value -> value.matches("\\d{1,15} kB"))
                .map(value -> Long.parseLong(value.substring(0, value.indexOf(' '))) << 10)
                .orElse(0L);
    }

    /** memfd pools do not count to /dev/shm, file pools in it do. */
    private Finding sharedMemory() {
        try {
            FileStore store = host.fileStore("/dev/shm").orElseThrow(() -> new IOException("there is no /dev/shm"));
            String sentence = ByteSize.describe(store.getUsableSpace()) + " of "
                    + ByteSize.describe(store.getTotalSpace()) + " are free";
            return store.getUsableSpace() >= SMALL_SHM
                    ? Finding.ok("/dev/shm", sentence + " for file pools; memfd pools do not count to it.")
                    : Finding.note(
                            "/dev/shm",
                            sentence + ", which is little for file pools; memfd pools do not count to it."
                                    + " To enlarge it: sudo mount -o remount,size=2G /dev/shm, or docker run --shm-size=2g");
        } catch (IOException e) {
            return Finding.note("/dev/shm", "There is none; use memfd pools, or file pools in another tmpfs.");
        }
    }

    /**
     * A trial shows what the counts do not: whether a container may use huge pages (its hugetlb control group), and
     * whether all of them are reserved.
     */
    private Finding hugePages() {
        String folder = "/sys/kernel/mm/hugepages/hugepages-2048kB/";
        long free = host.number(folder + "free_hugepages").orElse(0);
        long total = host.number(folder + "nr_hugepages").orElse(0);
        Trial trial = trials.hugePages();
        if (trial.works()) {
            return Finding.ok(
                    "huge pages", "A memfd got one of 2 MiB; " + free + " of " + total + " reserved ones are free.");
        }
        String onHost = switch (engine) {
            case NONE -> "";
            case DOCKER, PODMAN -> ", on the container's host";
            case KUBERNETES -> ", on the pod's node";
        };
        if (total == 0) {
            return Finding.note(
                    "huge pages",
                    "None of 2 MiB are reserved; pools use 4 KiB pages. To reserve 512 MiB: sudo sysctl vm.nr_hugepages=256"
                            + onHost);
        }
        String sentence = free + " of " + total + " reserved ones of 2 MiB are free, but a memfd got none: "
                + trial.reason() + ".";
        long promised = host.number(folder + "resv_hugepages").orElse(0);
        Optional<Setting> limit = free > promised ? exhaustedLimit() : Optional.empty();
        return Finding.note(
                "huge pages",
                limit.map(setting -> sentence + " A control group limits them to " + setting.text()
                                + " bytes, of which less than one page is left. To lift that: " + lift(setting.path()))
                        .orElse(sentence + " To reserve 512 MiB more: sudo sysctl vm.nr_hugepages=" + (total + 256)
                                + onHost));
    }

    /** The least limit among the groups that have less than a huge page left. */
    private Optional<Setting> exhaustedLimit() {
        return new ControlGroupFiles(host)
                .settings("hugetlb", "hugetlb.2MB.max", "hugetlb.2MB.limit_in_bytes").stream()
                        .filter(setting -> setting.text().matches("\\d{1,15}"))
                        .filter(setting -> bytes(setting) < usedBytes(setting.path()) + HUGE_PAGE_BYTES)
                        .min(Comparator.comparingLong(MemoryChecks::bytes));
    }

    private static long bytes(Setting limit) {
        return Long.parseLong(limit.text());
    }

    private long usedBytes(String limit) {
        String name = limit.endsWith(".max") ? "/hugetlb.2MB.current" : "/hugetlb.2MB.usage_in_bytes";
        return host.number(limit.substring(0, limit.lastIndexOf('/')) + name).orElse(0);
    }

    /** A container sees its group at another path than its host does. */
    private String lift(String limit) {
        boolean isVersion2 = limit.endsWith(".max");
        String command = "echo " + (isVersion2 ? "max" : "-1") + " | sudo tee ";
        return switch (engine) {
            case NONE -> command + limit;
            case DOCKER, PODMAN ->
                command + "/sys/fs/cgroup" + (isVersion2 ? "" : "/hugetlb") + "/GROUP"
                        + limit.substring(limit.lastIndexOf('/'))
                        + ", on the container's host, where /proc/PID/cgroup names GROUP, and " + engine.command()
                        + " inspect -f '{{.State.Pid}}' CONTAINER prints PID";
            case KUBERNETES -> "raise resources.limits.hugepages-2Mi in the container's specification";
        };
    }

    private Finding numa() {
        int nodes = host.names("/sys/devices/system/node", "node[0-9]*").size();
        if (nodes <= 1) {
            return Finding.ok("NUMA", "There is one memory node; nothing has to be bound.");
        }
        Trial trial = trials.memoryNodes();
        return trial.works()
                ? Finding.ok("NUMA", nodes + " memory nodes, and a shared page could be put on one of them.")
                : Finding.note(
                        "NUMA",
                        nodes + " memory nodes, but shared pages cannot be put on one: " + trial.reason()
                                + ". To install libnuma: sudo apt-get install libnuma1");
    }
}
