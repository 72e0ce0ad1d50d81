package dev.rackcall.perf.harness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import dev.rackcall.perf.result.Measurement;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.LongConsumer;
import java.util.function.LongUnaryOperator;
import java.util.stream.LongStream;
import org.assertj.core.data.Offset;
import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;

class LoopsTest {
    private static final long MILLISECOND = 1_000_000;
    /** The histogram keeps three digits. */
    private static final Percentage DIGITS = Percentage.withPercentage(0.2);

    private final FakeClock clock = new FakeClock(1);

    @Test
    void shouldFindThePercentilesOfAClosedLoop() throws Exception {
        // 2 % of the calls take 50 us, 2 in a thousand 900 us, the others 1 us.
        FakeClient client =
                new FakeClient(clock, sequence -> sequence % 500 == 0 ? 900_000 : sequence % 50 == 7 ? 50_000 : 1_000);
        Measurement measurement =
                new ClosedLoop(clock).run(client, 1, 100 * MILLISECOND).measurement();

        assertThat(measurement.p50Ns()).isCloseTo(1_000, DIGITS);
        assertThat(measurement.p99Ns()).isCloseTo(50_000, DIGITS);
        assertThat(measurement.p999Ns()).isCloseTo(900_000, DIGITS);
        assertThat(measurement.maxNs()).isCloseTo(900_000, DIGITS);
        assertThat(measurement.count()).isEqualTo(client.called.size());
        assertThat(measurement.opsPerS()).isCloseTo(measurement.count() / 0.1, Percentage.withPercentage(1));
    }

    @Test
    void shouldGiveEachCallTheNextSequence() throws Exception {
        FakeClient client = new FakeClient(clock, sequence -> 10_000);
        Measurement measurement =
                new ClosedLoop(clock).run(client, 7, 20 * MILLISECOND).measurement();
        assertThat(client.called)
                .containsExactlyElementsOf(
                        LongStream.range(7, 7 + measurement.count()).boxed().toList());
        assertThat(client.called).hasSizeGreaterThan(LatencyRecorder.BATCH);
    }

    @Test
    void shouldCountTheWaitOfCallsThatWereDueDuringAStall() throws Exception {
        // 10,000 calls a second for 100 ms, each takes 1 us; one of them holds everything up for 60 ms.
        FakeClock coarse = new FakeClock(50);
        LongUnaryOperator stall = sequence -> sequence == 101 ? 60 * MILLISECOND : 1_000;
        Measurement measurement = new FixedRateLoop(coarse)
                .run(new FakeClient(coarse, stall), 1, 100 * MILLISECOND, 10_000)
                .measurement();

        assertThat(measurement.count()).isEqualTo(1000);
        // 600 of 1000 calls were due while it lasted; a closed loop would show one slow call.
        assertThat(measurement.p50Ns()).isGreaterThan(5 * MILLISECOND);
        assertThat(measurement.maxNs()).isCloseTo(60 * MILLISECOND, DIGITS);
        assertThat(measurement.minNs()).isBetween(1_000L, 1_200L);

        Measurement omitting = new ClosedLoop(coarse)
                .run(new FakeClient(coarse, stall), 1, 100 * MILLISECOND)
                .measurement();
        assertThat(omitting.p999Ns()).isLessThan(MILLISECOND);
    }

    @Test
    void shouldKeepTheRateWhenCallsAreFast() throws Exception {
        FakeClock coarse = new FakeClock(50);
        Measurement measurement = new FixedRateLoop(coarse)
                .run(new FakeClient(coarse, sequence -> 500), 1, 50 * MILLISECOND, 20_000)
                .measurement();
        assertThat(measurement.count()).isEqualTo(1000);
        assertThat(measurement.opsPerS()).isCloseTo(20_000, Percentage.withPercentage(1));
        assertThat(measurement.p999Ns()).isLessThan(700);
    }

    @Test
    void shouldKeepAsManyCallsInFlightAsAskedAndTakeAllRepliesInTheEnd() throws Exception {
        FakePipeline pipeline = new FakePipeline(8);
        Measurement measurement = new ThroughputLoop(clock).run(pipeline, 8, 4, 1, 10 * MILLISECOND);
        assertThat(pipeline.deepest).isEqualTo(8);
        assertThat(pipeline.inFlight).isEmpty();
        assertThat(measurement.count()).isPositive().isLessThanOrEqualTo(pipeline.sent);
        // A call is answered one poll after it was sent, and a poll takes 1 us.
        assertThat(measurement.p50Ns()).isCloseTo(1_000, within(100L));
        assertThat(measurement.opsPerS()).isCloseTo(8e6, Offset.offset(1e6));
    }

    @Test
    void shouldWaitWhenTheSubjectPushesBack() throws Exception {
        FakePipeline pipeline = new FakePipeline(3);
        new ThroughputLoop(clock).run(pipeline, 8, 1, 1, MILLISECOND);
        assertThat(pipeline.deepest).isEqualTo(3);
        assertThat(pipeline.inFlight).isEmpty();
    }

    @Test
    void shouldSayThatRepliesDoNotCome() {
        FakePipeline deaf = new FakePipeline(8);
        deaf.answers = false;
        assertThatThrownBy(() -> new ThroughputLoop(clock).run(deaf, 4, 1, 1, 60_000 * MILLISECOND))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("4 calls in flight and no reply for 1");
    }

    @Test
    void shouldTellSettledWarmUpFromUnsettled() throws Exception {
        WarmUp warmUp = new WarmUp(MILLISECOND, 3 * MILLISECOND, 100 * MILLISECOND);
        long[] medians = {900, 700, 500, 400, 401, 399, 400, 400};
        int[] window = {0};
        WarmUp.Outcome settled = warmUp.run(nanos -> measurement(medians[window[0]++]));
        assertThat(settled.settled()).isTrue();
        assertThat(window[0]).isEqualTo(7);

        int[] restless = {0};
        WarmUp.Outcome unsettled = warmUp.run(nanos -> measurement(restless[0]++ % 2 == 0 ? 400 : 500));
        assertThat(unsettled.settled()).isFalse();
        assertThat(unsettled.nanos()).isEqualTo(100 * MILLISECOND);
    }

    private static Measurement measurement(long median) {
        return new Measurement(median, median, median, median, median, 10, 1e6);
    }

    private final class FakePipeline implements Pipeline {
        final Deque<Long> inFlight = new ArrayDeque<>();
        boolean answers = true;
        int deepest;
        long sent;
        private final int capacity;

        FakePipeline(int capacity) {
            this.capacity = capacity;
        }

        @Override
        public boolean offer(long sequence) {
            if (inFlight.size() == capacity) {
                return false;
            }
            inFlight.add(sequence);
            deepest = Math.max(deepest, inFlight.size());
            sent++;
            return true;
        }

        @Override
        public int poll(LongConsumer done) {
            clock.advance(answers ? 1_000 : MILLISECOND);
            int taken = 0;
            while (answers && !inFlight.isEmpty()) {
                done.accept(inFlight.remove());
                taken++;
            }
            return taken;
        }
    }
}
