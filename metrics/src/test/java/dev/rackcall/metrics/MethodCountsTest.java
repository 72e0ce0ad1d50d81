package dev.rackcall.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Status;
import dev.rackcall.testkit.Concurrently;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MethodCountsTest {
    private static final int SHORT = 200;
    private static final int LONG = 50_000;

    private final MethodCounts counts = new MethodCounts();

    private void took(int nanos, int times) {
        for (int i = 0; i < times; i++) {
            counts.took(nanos);
        }
    }

    private long timed(int calls) {
        return IntStream.range(0, calls).filter(_ -> counts.begins()).count();
    }

    @Test
    void shouldTimeAllCallsUntilTheyAreKnownToBeShort() {
        took(SHORT, 1_000);
        assertThat(timed(1_000)).isEqualTo(1_000);
        took(SHORT, 1_000);
        assertThat(timed(16_000)).isBetween(950L, 1_050L);
    }

    /** A program that calls in a rhythm of 16 must not have the same call of it timed each time. */
    @Test
    void shouldTimeShortCallsWithoutAPeriod() {
        took(SHORT, 2_000);
        AtomicInteger[] byPlace =
                IntStream.range(0, 16).mapToObj(_ -> new AtomicInteger()).toArray(AtomicInteger[]::new);
        for (int i = 0; i < 16_000; i++) {
            if (counts.begins()) {
                byPlace[i % 16].incrementAndGet();
            }
        }
        assertThat(byPlace).allSatisfy(each -> assertThat(each.get()).isBetween(50, 75));
    }

    @Test
    void shouldTimeAllCallsOnceTheyAreLong() {
        took(SHORT, 2_000);
        took(LONG, 2_000);
        assertThat(timed(1_000)).isEqualTo(1_000);
    }

    /** A pause of the collector is no reason to time the calls after it. */
    @Test
    void shouldNotTimeMoreForOneLongCall() {
        took(SHORT, 2_000);
        took(Integer.MAX_VALUE, 1);
        assertThat(timed(1_600)).isLessThan(200);
    }

    /** Else the timer would show a mean that is nearer to such a phase's than to that of all calls. */
    @Test
    void shouldNotTimeMoreInAPhaseOfLongCalls() {
        took(SHORT, 2_000);
        took(LONG, 900);
        assertThat(timed(1_600)).isLessThan(200);
        took(SHORT, 100);
        took(LONG, 900);
        assertThat(timed(1_600)).isLessThan(200);
    }

    @Test
    void shouldCountTheCallsOfManyThreads() {
        int ok = MethodCounts.index(Status.Code.OK, Route.Kind.HOST);
        int failed = MethodCounts.index(Status.Code.ABORTED, null);
        Concurrently.run(8, _ -> {
            for (int i = 0; i < 10_000; i++) {
                counts.begins();
                counts.ended(i % 10 == 0 ? failed : ok).add(1);
            }
            counts.begins();
        });
        assertThat(counts.begun.sum()).isEqualTo(80_008);
        assertThat(counts.ended(ok).sum()).isEqualTo(72_000);
        assertThat(counts.ended(failed).sum()).isEqualTo(8_000);
        assertThat(counts.active()).isEqualTo(8);
    }
}
