package dev.rackcall.perf.harness;

import java.util.function.LongSupplier;

/** A clock that a test moves. A reading takes a little time, so loops that only wait make progress. */
final class FakeClock implements LongSupplier {
    private final long readingNanos;
    private long now = 1_000_000;

    FakeClock(long readingNanos) {
        this.readingNanos = readingNanos;
    }

    @Override
    public long getAsLong() {
        now += readingNanos;
        return now;
    }

    void advance(long nanos) {
        now += nanos;
    }
}
