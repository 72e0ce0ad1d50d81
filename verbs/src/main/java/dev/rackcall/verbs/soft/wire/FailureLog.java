package dev.rackcall.verbs.soft.wire;

import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log of this process's failing links: ten lines a second at most, because any process that reaches a device's port
 * can cause them. Thread-safe.
 */
final class FailureLog {
    private static final Logger LOG = LoggerFactory.getLogger(Link.class);
    private static final int LINES_PER_SECOND = 10;
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private static long second = System.nanoTime();
    private static int lines;
    private static long skipped;

    private FailureLog() {}

    static void warn(Link link, String reason) {
        String rest = admit(System.nanoTime());
        if (rest != null) {
            LOG.warn("{}: {}{}", link, reason, rest);
        }
    }

    /** Returns a remark on the lines left out before this one; null to leave this one out. */
    private static synchronized String admit(long now) {
        if (now - second >= SECOND) {
            second = now;
            lines = 0;
        }
        if (lines == LINES_PER_SECOND) {
            skipped++;
            return null;
        }
        lines++;
        String rest = skipped == 0 ? "" : " (" + skipped + " more such lines were left out)";
        skipped = 0;
        return rest;
    }
}
