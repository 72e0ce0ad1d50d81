package dev.rackcall.rpc.spi;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.slf4j.helpers.FormattingTuple;
import org.slf4j.helpers.MessageFormatter;

/**
 * A logger whose lines a peer may cause. A peer must not be able to fill a disk, so ten lines per second are written of
 * each kind, and the rest are counted. Lines of the same format, a literal, are of one kind: many of one kind do not hide
 * another.
 * Thread-safe.
 */
public final class LimitedLog {
    private static final int LINES_PER_SECOND = 10;
    private static final long SECOND = TimeUnit.SECONDS.toNanos(1);

    private final Logger log;
    private final LongSupplier clock;
    /** By format. */
    private final Map<String, Limit> limits = new ConcurrentHashMap<>();

    /** With another clock, in nanoseconds. */
    LimitedLog(Logger log, LongSupplier clock) {
        this.log = log;
        this.clock = clock;
    }

    /** The log of a class. */
    public static LimitedLog of(Class<?> owner) {
        return new LimitedLog(LoggerFactory.getLogger(owner), System::nanoTime);
    }

    /** Not limited: an operator asks for these lines. */
    public void debug(String format, Object... arguments) {
        log.debug(format, arguments);
    }

    public void info(String format, Object... arguments) {
        write(Level.INFO, format, arguments);
    }

    public void warn(String format, Object... arguments) {
        write(Level.WARN, format, arguments);
    }

    public void error(String format, Object... arguments) {
        write(Level.ERROR, format, arguments);
    }

    /** As in SLF4J, an exception that comes last is written with its stack trace and fills no placeholder. */
    private void write(Level level, String format, Object... arguments) {
        if (!log.isEnabledForLevel(level)) {
            return;
        }
        Limit limit = limits.computeIfAbsent(format, _ -> new Limit(clock.getAsLong()));
        if (!limit.allows(clock.getAsLong())) {
            return;
        }
        FormattingTuple line = MessageFormatter.arrayFormat(format, arguments);
        log.atLevel(level).setCause(line.getThrowable()).log(line.getMessage() + limit.skipped());
    }

    /** The lines of one kind. */
    private static final class Limit {
        private long second;
        private int lines;
        private long skipped;

        Limit(long now) {
            second = now;
        }

        /** Whether to write the line; if not, it is counted. */
        synchronized boolean allows(long now) {
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
        synchronized String skipped() {
            if (skipped == 0) {
                return "";
            }
            String text = " (" + skipped + " more such lines were left out)";
            skipped = 0;
            return text;
        }
    }
}
