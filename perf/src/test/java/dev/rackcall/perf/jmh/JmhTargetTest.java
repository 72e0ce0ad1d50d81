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

    @Test
    void shouldSayThatNoBenchmarkHasThatName() {
        assertThatThrownBy(() -> JmhTarget.run("carrier-pigeon", 50_000_000))
                .isInstanceOf(BenchFailure.class)
                .hasMessageContaining("JMH");
    }
}
