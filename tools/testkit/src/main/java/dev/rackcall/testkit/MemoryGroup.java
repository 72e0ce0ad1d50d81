package dev.rackcall.testkit;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** A control group with a memory limit, in which children run. Only root can make one, on hosts that permit it. */
public final class MemoryGroup implements AutoCloseable {
    private static final Path MOUNT = Path.of("/sys/fs/cgroup");

    private final Path path;
    private final boolean isVersion1;

    private MemoryGroup(Path path, boolean isVersion1) {
        this.path = path;
        this.isVersion1 = isVersion1;
    }

    /** Makes a group without swap; empty if this process may not make one. */
    public static Optional<MemoryGroup> make(long limitBytes) {
        boolean isVersion1 = Files.isDirectory(MOUNT.resolve("memory"));
        Path path = (isVersion1 ? MOUNT.resolve("memory") : MOUNT)
                .resolve("rackcall-test-" + ProcessHandle.current().pid() + "-" + System.nanoTime());
        MemoryGroup group = new MemoryGroup(path, isVersion1);
        try {
            Files.createDirectory(path);
            Files.writeString(path.resolve(group.limitFile()), Long.toString(limitBytes));
            if (!isVersion1) {
                Files.writeString(path.resolve("memory.swap.max"), "0");
            }
            return Optional.of(group);
        } catch (IOException e) {
            group.close();
            return Optional.empty();
        }
    }

    private String limitFile() {
        return isVersion1 ? "memory.limit_in_bytes" : "memory.max";
    }

    /** For {@link ChildJvm.Launch#behind}: enters the group, and then runs its arguments. */
    public List<String> command() {
        return List.of("sh", "-c", "echo $$ > " + path.resolve("cgroup.procs") + " && exec \"$@\"", "sh");
    }

    /** How many of its processes the kernel has killed for lack of memory. */
    public long kills() {
        try {
            for (String line : Files.readAllLines(path.resolve(isVersion1 ? "memory.oom_control" : "memory.events"))) {
                if (line.startsWith("oom_kill ")) {
                    return Long.parseLong(line.substring("oom_kill ".length()));
                }
            }
            throw new IllegalStateException(path + " counts no kills");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Removes the group once its processes have ended. */
    @Override
    public void close() {
        if (Files.isDirectory(path)) {
            Await.until("the control group is empty", () -> path.toFile().delete());
        }
    }
}
