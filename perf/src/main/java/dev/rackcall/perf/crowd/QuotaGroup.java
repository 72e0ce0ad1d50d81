package dev.rackcall.perf.crowd;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A control group (cgroups(7)) whose processes together may use the time of one processor: {@code cpu.max} in version
 * 2, {@code cpu.cfs_quota_us} in version 1. It is created in the innermost group around this process that permits it.
 */
final class QuotaGroup implements AutoCloseable {
    private static final String PREFIX = "rackcall-bench-";
    private static final long PERIOD_MICROS = 100_000;
    private static final long EMPTY_WITHIN_MILLIS = 10_000;
    /** Moves the shell into the group, then becomes the program. */
    private static final String ENTER = "echo $$ >\"$0\" && exec \"$@\"";

    private static Optional<String> missing;

    private final Path group;
    private final Thread shutdownHook = Thread.ofPlatform().unstarted(this::remove);

    private QuotaGroup(Path group) {
        this.group = group;
        Runtime.getRuntime().addShutdownHook(shutdownHook);
    }

    /** What this host lacks for such a group; tried once. */
    static synchronized Optional<String> missing() {
        if (missing == null) {
            try (QuotaGroup probe = create()) {
                missing = Optional.empty();
            } catch (IOException e) {
                missing = Optional.of(
                        "no control group with a processor quota can be made here (" + e.getMessage() + ")");
            }
        }
        return missing;
    }

    static QuotaGroup create() throws IOException {
        return create(Path.of("/proc/self/cgroup"), Path.of("/sys/fs/cgroup"));
    }

    /**
     * A new group; tests use other roots.
     *
     * @param memberships {@code /proc/self/cgroup}
     * @param mounts {@code /sys/fs/cgroup}
     */
    static QuotaGroup create(Path memberships, Path mounts) throws IOException {
        String reason = "there is no mounted controller cpu in " + mounts;
        for (Path parent : around(Files.readAllLines(memberships), mounts)) {
            reclaim(parent);
            QuotaGroup group = new QuotaGroup(
                    parent.resolve(PREFIX + ProcessHandle.current().pid()));
            try {
                Files.createDirectory(group.group);
                group.limit();
                group.requireEntrance();
                return group;
            } catch (IOException e) {
                reason = e.toString();
                group.close();
            }
        }
        throw new IOException(reason);
    }

    /** The groups that this process is in, from its own to the root, of the hierarchy that has the controller. */
    static List<Path> around(List<String> memberships, Path mounts) {
        for (String line : memberships) {
            // hierarchy:controllers:path
            String[] parts = line.split(":", 3);
            boolean isVersion2 = parts[1].isEmpty() && Files.exists(mounts.resolve("cgroup.controllers"));
            if (isVersion2 || List.of(parts[1].split(",")).contains("cpu")) {
                Path mount = isVersion2 ? mounts : mounts.resolve("cpu");
                List<Path> groups = new ArrayList<>();
                // In a container, the mount often starts at the container's own group, regardless of that group's path.
                for (Path group =
                                mount.resolve(parts[2].replaceFirst("^/+", "")).normalize();
                        group != null && group.startsWith(mount);
                        group = group.getParent()) {
                    if (Files.isDirectory(group)) {
                        groups.add(group);
                    }
                }
                return groups;
            }
        }
        return List.of();
    }

    private void limit() throws IOException {
        Map<String, String> settings = Files.exists(group.resolve("cpu.cfs_quota_us"))
                ? Map.of("cpu.cfs_period_us", "" + PERIOD_MICROS, "cpu.cfs_quota_us", "" + PERIOD_MICROS)
                : Map.of("cpu.max", PERIOD_MICROS + " " + PERIOD_MICROS);
        for (Map.Entry<String, String> each : settings.entrySet()) {
            Path file = group.resolve(each.getKey());
            if (!Files.exists(file)) {
                throw new IOException(file + " does not exist: the controller cpu is not enabled there");
            }
            Files.writeString(file, each.getValue());
        }
    }

    private void requireEntrance() throws IOException {
        List<String> command = new ArrayList<>(wrapper());
        command.add("true");
        try {
            if (new ProcessBuilder(command).start().waitFor() != 0) {
                throw new IOException(group + " takes no processes");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("interrupted", e);
        }
    }

    /** A program that runs its arguments in the group. */
    List<String> wrapper() {
        return List.of("sh", "-c", ENTER, group.resolve("cgroup.procs").toString());
    }

    /** Removes groups of runs that were killed. */
    private static void reclaim(Path parent) throws IOException {
        try (DirectoryStream<Path> groups = Files.newDirectoryStream(parent, PREFIX + "*")) {
            for (Path group : groups) {
                long pid = Long.parseLong(group.getFileName().toString().substring(PREFIX.length()));
                if (ProcessHandle.of(pid).isEmpty()) {
                    Files.deleteIfExists(group);
                }
            }
        }
    }

    /** Removes the group as soon as its last process has ended. */
    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(shutdownHook);
            remove();
        } catch (IllegalStateException e) {
            // The JVM is shutting down, and the hook does the work.
        }
    }

    private void remove() {
        long since = System.nanoTime();
        while (Files.exists(group)) {
            try {
                Files.delete(group);
            } catch (IOException e) {
                if (TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - since) > EMPTY_WITHIN_MILLIS) {
                    return; // the next run removes it
                }
                LockSupport.parkNanos(1_000_000);
            }
        }
    }
}
