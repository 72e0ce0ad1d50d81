package dev.rackcall.shm.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.Scope;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A process in a control group takes shared memory until there is none left. It must get an exception and not be
 * killed.
 */
class MemoryLimitTest {
    private static final long LIMIT = 192 << 20;

    private Path group;

    /** Of either version, if this user may create one. Otherwise these tests are skipped with a message. */
    @BeforeEach
    void makeGroup() throws IOException {
        for (Path mount : List.of(Path.of("/sys/fs/cgroup/memory"), Path.of("/sys/fs/cgroup"))) {
            Path candidate =
                    mount.resolve("rackcall-test-" + ProcessHandle.current().pid());
            for (String limit : List.of("memory.limit_in_bytes", "memory.max")) {
                if (limits(candidate, limit)) {
                    group = candidate;
                    return;
                }
            }
        }
        String reason = "MemoryLimitTest does not run: this user can make no control group that limits memory";
        System.err.println(reason);
        Assumptions.abort(reason);
    }

    private static boolean limits(Path candidate, String file) throws IOException {
        if (!Files.isWritable(candidate.getParent())) {
            return false;
        }
        Files.createDirectory(candidate);
        if (!Files.isWritable(candidate.resolve(file))) {
            Files.delete(candidate);
            return false;
        }
        Files.writeString(candidate.resolve(file), Long.toString(LIMIT));
        return true;
    }

    /** The kernel may still count a process that has just ended. */
    @AfterEach
    void removeGroup() {
        if (group != null) {
            Await.until("the control group is empty", () -> group.toFile().delete());
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {64 << 10, 1 << 20, 16 << 20})
    void shouldRefuseWhatTheGroupDoesNotHave(int bytesAtATime) {
        ChildJvm.Result result = ChildJvm.of(Taker.class, bytesAtATime)
                .behind(List.of("/bin/sh", "-c", "echo $$ >" + group.resolve("cgroup.procs") + " && exec \"$@\"", "sh"))
                .flags("-Xmx24m")
                .run();
        assertThat(result.exitCode())
                .as("137 is the out-of-memory killer; %s", result.output())
                .isZero();
        assertThat(result.output())
                .contains("more from the host")
                .contains("free memory")
                .contains("alive");
    }

    /** The process in the group. */
    static final class Taker {
        private Taker() {}

        public static void main(String[] arguments) {
            long bytes = Long.parseLong(arguments[0]);
            try (Pool pool = Pool.memfd("limited", 4 * LIMIT);
                    Scope scope = pool.arena().newScope()) {
                try {
                    while (true) {
                        scope.allocate(bytes); // which writes into it
                    }
                } catch (OutOfArenaException e) {
                    System.out.println(e.getMessage());
                }
                System.out.println("alive with " + (scope.bytesHeld() >> 20) + " MiB");
            }
        }
    }
}
