package dev.rackcall.perf.harness;

import java.util.function.LongSupplier;

/** A clock that stands still until somebody moves it; reading it takes a little, so that loops that only wait get on. */
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
