package dev.rackcall.rpc.spi;

import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Limits the lines per second in a log and counts the rest: a peer must not be able to fill a disk. Use one limit for
 * each kind of line. Thread-safe.
 */
public final class LogLimit {
    private static final int LINES_PER_SECOND = 10;
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final LongSupplier clock;
    private long second;
    private int lines;
    private long skipped;

    /** A limit that counts from now on. */
    public LogLimit() {
        this(System::nanoTime);
    }

    /** With another clock, in nanoseconds, for tests. */
    public LogLimit(LongSupplier clock) {
        this.clock = clock;
        this.second = clock.getAsLong();
    }

    /** Whether to write the line; if not, it is counted. */
    public synchronized boolean allows() {
        long now = clock.getAsLong();
        if (now - second >= SECOND) {
            second = now;
            lines = 0;
        }
        if (lines < LINES_PER_SECOND) {
            lines++;
            return true;
        }
        skipped++;
        return false;
    }

    /** A remark on the lines omitted before this one; empty if there were none. */
    public synchronized String skipped() {
        if (skipped == 0) {
            return "";
        }
        String text = " (" + skipped + " more such lines were left out)";
        skipped = 0;
        return text;
    }
}
