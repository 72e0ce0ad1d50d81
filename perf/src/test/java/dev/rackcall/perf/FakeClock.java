package dev.rackcall.perf;

import java.util.function.LongSupplier;

/** A clock that stands still until somebody moves it; reading it costs one nanosecond, so that loops that only wait get on. */
final class FakeClock implements LongSupplier {
    private long now = 1_000_000;

    @Override
    public long getAsLong() {
        return ++now;
    }

    void advance(long nanos) {
        now += nanos;
    }
}
