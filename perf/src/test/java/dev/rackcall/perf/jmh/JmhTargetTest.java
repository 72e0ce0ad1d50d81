package dev.rackcall.perf.jmh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.perf.harness.BenchFailure;
import dev.rackcall.perf.result.Micro;
import java.util.List;
import org.junit.jupiter.api.Test;

class JmhTargetTest {
    @Test
    void shouldRunOneBenchmarkInAJvmOfItsOwn() {
        List<Micro> results = JmhTarget.run(".*CodecBenchmark.write", 50_000_000);
        assertThat(results)
                .extracting(Micro::name)
                .containsExactlyInAnyOrder("CodecBenchmark.write[bytes=64]", "CodecBenchmark.write[bytes=4096]");
        assertThat(results).allSatisfy(result -> {
            assertThat(result.nsPerOp()).isPositive();
            assertThat(result.allocBPerOp()).isNotNegative();
        });
    }

    /** It checks that it writes the same bytes. */
    @Test
    void shouldRunThePeerWithItsFlags() {
        List<Micro> results = JmhTarget.run(".*ChronicleBenchmark.*", 50_000_000);
        assertThat(results)
                .extracting(Micro::name)
                .containsExactlyInAnyOrder(
                        "ChronicleBenchmark.write[bytes=64]",
                        "ChronicleBenchmark.write[bytes=4096]",
                        "ChronicleBenchmark.read[bytes=64]",
                        "ChronicleBenchmark.read[bytes=4096]");
    }

    @Test
    void shouldSayThatNoBenchmarkHasThatName() {
        assertThatThrownBy(() -> JmhTarget.run("carrier-pigeon", 50_000_000))
                .isInstanceOf(BenchFailure.class)
                .hasMessageContaining("JMH");
    }
}
