package dev.rackcall.shm.waiting;

import dev.rackcall.shm.os.Affinity;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * How many processors this process can use at a time: those of its affinity mask, or fewer if a control group limits
 * its processor time. Read once. {@link Runtime#availableProcessors} would count those of the calling thread, which may
 * be pinned, and rounds half a processor up, which threads that spin would use up.
 */
public final class Processors {
    private static final int COUNT =
            atMost(Affinity.ofProcess().length, quota(Path.of("/proc/self/cgroup"), Path.of("/sys/fs/cgroup")));

    private Processors() {}

    /** At least one. */
    public static int count() {
        return COUNT;
    }

    static int atMost(int processors, double quota) {
        return (int) Math.clamp(quota, 1, processors);
    }

    /**
     * The processors whose time the control groups around this process allow it (cgroups(7), version 2 or 1);
     * infinity without a limit, or if the groups' files are hidden.
     *
     * @param memberships the groups of the process, as in {@code /proc/self/cgroup}
     * @param mounts the folder in which control groups are mounted
     */
    static double quota(Path memberships, Path mounts) {
        double least = Double.POSITIVE_INFINITY;
        for (String line : lines(memberships)) {
            // hierarchy:controllers:path
            String[] parts = line.split(":", 3);
            if (parts.length == 3 && parts[1].isEmpty()) {
                least = Math.min(least, leastAround(mounts, parts[2]));
            } else if (parts.length == 3 && List.of(parts[1].split(",")).contains("cpu")) {
                least = Math.min(least, leastAround(mounts.resolve("cpu"), parts[2]));
            }
        }
        return least;
    }

    /** Of the group and those above it. A container sees its own group as the highest one. */
    private static double leastAround(Path mount, String group) {
        double least = Double.POSITIVE_INFINITY;
        Path lowest = Path.of(mount.toString(), group).normalize();
        for (Path folder = lowest; folder != null && folder.startsWith(mount); folder = folder.getParent()) {
            least = Math.min(least, ofGroup(folder));
        }
        return least;
    }

    private static double ofGroup(Path group) {
        List<String> max = lines(group.resolve("cpu.max"));
        if (!max.isEmpty()) {
            String[] both = max.getFirst().split(" ", 2);
            return both.length < 2 ? Double.POSITIVE_INFINITY : ratio(both[0], both[1]);
        }
        List<String> quota = lines(group.resolve("cpu.cfs_quota_us"));
        List<String> period = lines(group.resolve("cpu.cfs_period_us"));
        return quota.isEmpty() || period.isEmpty()
                ? Double.POSITIVE_INFINITY
                : ratio(quota.getFirst(), period.getFirst());
    }

    /** No limit is {@code max} or -1. */
    private static double ratio(String quota, String period) {
        try {
            double micros = Long.parseLong(quota.strip());
            return micros <= 0 ? Double.POSITIVE_INFINITY : micros / Long.parseLong(period.strip());
        } catch (NumberFormatException e) {
            return Double.POSITIVE_INFINITY;
        }
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException | SecurityException e) {
            return List.of();
        }
    }
}
