package dev.rackcall.shm.os.file;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.shm.os.Affinity;
import dev.rackcall.shm.os.OsException;
import org.junit.jupiter.api.Test;

class NumaTest {
    @Test
    void shouldBindSharedPagesToANode() {
        // Skipped without libnuma, but asking must not throw.
        assumeThat(Numa.available()).as("libnuma on this host").isPresent();
        Numa numa = Numa.available().orElseThrow();
        int cpu = Affinity.available()[0];
        int node = numa.nodeOf(cpu).orElseThrow();
        assertThat(node).isBetween(0, numa.nodes() - 1);
        try (SharedFile file = SharedFile.memfd("numa", 1 << 20);
                Mapping mapping = file.map()) {
            numa.bind(mapping.memory(), node);
            numa.prefer(mapping.memory(), node);
            file.reserve(0, file.bytes());
            mapping.memory().set(JAVA_INT, 4096, 1);

            assertThrown(
                    IllegalArgumentException.class,
                    () -> numa.bind(mapping.memory(), numa.nodes()),
                    "memory nodes 0 to");
            assertThrown(OsException.class, () -> numa.bind(mapping.memory().asSlice(8), node), "EINVAL");
        }
        assertThat(numa.nodeOf(100_000)).isEmpty();
    }
}
