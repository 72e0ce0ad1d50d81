package dev.rackcall.perf.harness;

import java.util.ArrayList;
import java.util.List;
import java.util.function.LongUnaryOperator;

/** A client whose calls take as long as a function of their sequence says. */
final class FakeClient implements ClientSide {
    final List<Long> called = new ArrayList<>();
    private final FakeClock clock;
    private final LongUnaryOperator duration;

    FakeClient(FakeClock clock, LongUnaryOperator duration) {
        this.clock = clock;
        this.duration = duration;
    }

    @Override
    public void call(long sequence) {
        called.add(sequence);
        clock.advance(duration.applyAsLong(sequence));
    }

    @Override
    public void close() {
        // Nothing to close.
    }
}
