package dev.rackcall.rpc.containers;

import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.MemoryGroup;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * What surrounds a process in a rootless container, made with unshare(1) and control groups: its own namespaces, in which it is process 1 and
 * the only one that it sees, and a memory limit where this process may set one.
 */
final class Container implements AutoCloseable {
    private static final List<String> NAMESPACES = List.of(
            "unshare",
            "--user",
            "--map-root-user",
            "--pid",
            "--fork",
            "--kill-child",
            "--mount-proc",
            "--net",
            "--ipc",
            "--uts");
    private static final long MEMORY_BYTES = 512L << 20;

    /** Empty where this process may not make control groups, for example in a container without them. */
    private final Optional<MemoryGroup> group = MemoryGroup.make(MEMORY_BYTES);

    /** Why this host makes no containers; empty if it does. */
    static Optional<String> missing() throws InterruptedException {
        List<String> command = new ArrayList<>(NAMESPACES);
        command.add("true");
        try {
            Process probe =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String said = new String(probe.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
            return probe.waitFor() == 0 ? Optional.empty() : Optional.of("no unprivileged namespaces: " + said.strip());
        } catch (IOException e) {
            return Optional.of("no unshare(1): " + e.getMessage());
        }
    }

    /** Starts {@link Guest} in it. Killing the child kills the container. */
    ChildJvm start(Guest.Role role, Path runtimeFolder) {
        ChildJvm.Launch launch = ChildJvm.of(Guest.class, role, runtimeFolder);
        group.ifPresent(limit -> launch.behind(limit.command()));
        return launch.behind(NAMESPACES).start();
    }

    @Override
    public void close() {
        group.ifPresent(MemoryGroup::close);
    }
}
