package dev.rackcall.samples.demo;

import com.fasterxml.jackson.annotation.JsonCreator;
import com.fasterxml.jackson.annotation.JsonValue;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.HdrHistogram.Histogram;

/** A histogram of nanoseconds, up to a minute with three digits, which passes between processes as bytes. Not thread-safe. */
final class Latencies {
    private static final long LONGEST_NANOS = 60_000_000_000L;

    private final Histogram histogram;

    Latencies() {
        histogram = new Histogram(LONGEST_NANOS, 3);
    }

    @JsonCreator(mode = JsonCreator.Mode.DELEGATING)
    Latencies(byte[] encoded) {
        histogram = Histogram.decodeFromByteBuffer(ByteBuffer.wrap(encoded), 0);
    }

    @JsonValue
    byte[] encoded() {
        ByteBuffer buffer = ByteBuffer.allocate(histogram.getNeededByteBufferCapacity());
        return Arrays.copyOf(buffer.array(), histogram.encodeIntoByteBuffer(buffer));
    }

    void record(long nanos) {
        histogram.recordValue(Math.clamp(nanos, 0, LONGEST_NANOS));
    }

    void add(Latencies others) {
        histogram.add(others.histogram);
    }

    long count() {
        return histogram.getTotalCount();
    }

    long percentile(double percentile) {
        return count() == 0 ? 0 : histogram.getValueAtPercentile(percentile);
    }
}
