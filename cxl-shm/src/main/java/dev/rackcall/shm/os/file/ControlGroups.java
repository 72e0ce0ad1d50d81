package dev.rackcall.shm.os.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * How much memory this process's control groups leave it (cgroups(7), version 2 or 1). Each group is limited by all
 * groups above it, as far as they are visible. In a container the mount often starts at the container's own group,
 * whatever path {@code /proc/self/cgroup} shows.
 */
final class ControlGroups {
    private static final Names VERSION_2 = new Names("memory.max", "memory.current", "inactive_file ");
    private static final Names VERSION_1 =
            new Names("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file ");
    /** Version 1 expresses "no limit" by about the largest number of whole pages. */
    private static final long NO_LIMIT = 1L << 60;

    private final Path memberships;
    private final Path mounts;

    /**
     * Tests use other roots than the host's.
     *
     * @param memberships {@code /proc/self/cgroup}
     * @param mounts {@code /sys/fs/cgroup}
     */
    ControlGroups(Path memberships, Path mounts) {
        this.memberships = memberships;
        this.mounts = mounts;
    }

    static ControlGroups ofThisProcess() {
        return new ControlGroups(Path.of("/proc/self/cgroup"), Path.of("/sys/fs/cgroup"));
    }

    /** File names in a group's directory. */
    private record Names(String limit, String used, String reclaimable) {}

    /** The smallest number of bytes that any group leaves; {@link Long#MAX_VALUE} without limits. */
    long availableBytes() {
        return least((group, files) -> available(group, files));
    }

    /** The lowest limit in bytes; empty if there is none. */
    OptionalLong limitBytes() {
        long limit = least((group, files) -> limit(group, files));
        return limit == Long.MAX_VALUE ? OptionalLong.empty() : OptionalLong.of(limit);
    }

    /** The directories of the groups with a limit, the highest first. */
    List<Path> limited() {
        List<Path> found = new ArrayList<>();
        least((group, files) -> {
            if (limit(group, files) < Long.MAX_VALUE) {
                found.addFirst(group);
            }
            return Long.MAX_VALUE;
        });
        return found;
    }

    private interface Measure {
        long of(Path group, Names files);
    }

    private long least(Measure measure) {
        long least = Long.MAX_VALUE;
        for (String line : lines(memberships)) {
            // hierarchy:controllers:path
            String[] parts = line.split(":", 3);
            if (parts.length == 3 && parts[1].isEmpty()) {
                Path unified = Files.exists(mounts.resolve("unified")) ? mounts.resolve("unified") : mounts;
                least = Math.min(least, leastUpTo(unified, parts[2], VERSION_2, measure));
            } else if (parts.length == 3 && List.of(parts[1].split(",")).contains("memory")) {
                least = Math.min(least, leastUpTo(mounts.resolve("memory"), parts[2], VERSION_1, measure));
            }
        }
        return least;
    }

    private static long leastUpTo(Path mount, String path, Names files, Measure measure) {
        long least = Long.MAX_VALUE;
        Path group = mount.resolve(path.replaceFirst("^/+", "")).normalize();
        while (group != null && group.startsWith(mount)) {
            least = Math.min(least, measure.of(group, files));
            group = group.getParent();
        }
        return least;
    }

    private static long limit(Path group, Names files) {
        long limit = number(group.resolve(files.limit())).orElse(Long.MAX_VALUE);
        return limit < NO_LIMIT ? limit : Long.MAX_VALUE;
    }

    private static long available(Path group, Names files) {
        long limit = limit(group, files);
        OptionalLong used = number(group.resolve(files.used()));
        if (limit == Long.MAX_VALUE || used.isEmpty()) {
            return Long.MAX_VALUE;
        }
        long reclaimable = lines(group.resolve("memory.stat")).stream()
                .filter(line -> line.startsWith(files.reclaimable()))
                .mapToLong(line ->
                        parsed(line.substring(files.reclaimable().length())).orElse(0))
                .sum();
        return Math.max(0, limit - used.getAsLong() + reclaimable);
    }

    private static OptionalLong number(Path file) {
        List<String> lines = lines(file);
        return lines.isEmpty() ? OptionalLong.empty() : parsed(lines.getFirst());
    }

    private static OptionalLong parsed(String text) {
        return text.matches("\\d{1,19}")
                ? OptionalLong.of(Long.parseUnsignedLong(text) < 0 ? Long.MAX_VALUE : Long.parseUnsignedLong(text))
                : OptionalLong.empty();
    }

    private static List<String> lines(Path file) {
        try {
            return Files.readAllLines(file);
        } catch (IOException e) {
            return List.of();
        }
    }
}
