package dev.rackcall.perf.alock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.FreePort;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The lock benchmark with its nodes in two processes. */
class LockHostsTest {
    private static ChildJvm host(int node, int port, int peer) {
        return ChildJvm.of(
                        LockHosts.class,
                        "soft:locks",
                        node,
                        port,
                        "127.0.0.1",
                        peer,
                        200,
                        "alock-50-4",
                        "spin-50-4",
                        "mcs-50-4")
                .start();
    }

    @Test
    void shouldMeasureEachKindOnBothHosts() throws Exception {
        int first = FreePort.find();
        int second = FreePort.find();
        try (ChildJvm a = host(0, first, second);
                ChildJvm b = host(1, second, first)) {
            for (ChildJvm each : List.of(a, b)) {
                each.awaitLine("LOCKS mcs-50-4", Duration.ofSeconds(90));
                assertThat(each.awaitEnd()).as(each::output).isZero();
                assertThat(each.output().lines().filter(line -> line.startsWith("LOCKS ")))
                        .hasSize(3)
                        .allMatch(line -> Double.parseDouble(line.split(" ")[2]) > 0);
            }
        }
    }
}
