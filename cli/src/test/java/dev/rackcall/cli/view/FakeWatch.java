package dev.rackcall.cli.view;

import dev.rackcall.cli.top.TopReport;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** A host as a test wants it, whose seconds are short. */
final class FakeWatch implements ViewSampler.Watch {
    final AtomicInteger starts = new AtomicInteger();
    final AtomicInteger intervals = new AtomicInteger();
    final AtomicInteger ends = new AtomicInteger();
    volatile TopReport report = new TopReport(List.of(), List.of(), 0);
    volatile boolean fails;
    volatile long intervalNanos = 1_000_000;
    /** The next interval lasts until no viewer looks. */
    volatile int most = Integer.MAX_VALUE;

    ViewSampler.Watch start() {
        starts.incrementAndGet();
        return this;
    }

    @Override
    public boolean watch(BooleanSupplier isLeft) throws IOException {
        LockSupport.parkNanos(intervalNanos);
        if (fails) {
            throw new IOException("no /proc");
        }
        while (intervals.get() == most && !isLeft.getAsBoolean()) {
            LockSupport.parkNanos(intervalNanos);
        }
        intervals.incrementAndGet();
        return !isLeft.getAsBoolean();
    }

    @Override
    public TopReport report() {
        return report;
    }

    @Override
    public boolean isAlive(int pid) {
        return true;
    }

    @Override
    public void close() {
        ends.incrementAndGet();
    }
}
