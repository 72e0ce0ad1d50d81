package dev.rackcall.directory;

import dev.rackcall.directory.DirectoryException.Reason;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How a process takes part in a directory.
 *
 * @param lease how long an unreachable member keeps its announcements and claims. A directory of one host does not
 *     use it, because the kernel reports which processes have died
 * @param timeout the time limit of every operation
 */
public record DirectoryOptions(Duration lease, Duration timeout) {
    private static final Pattern OPTION = Pattern.compile("(lease|timeout)=(\\d{1,9})(ms|s)");
    /** Declared before {@link #DEFAULT}, whose constructor reads it. */
    private static final Duration LEAST_LEASE = Duration.ofSeconds(1);

    /** A lease of 10 s, 5 s for an operation. */
    public static final DirectoryOptions DEFAULT = new DirectoryOptions(Duration.ofSeconds(10), Duration.ofSeconds(5));

    /** Checks both. */
    public DirectoryOptions {
        if (lease.compareTo(LEAST_LEASE) < 0) {
            throw new DirectoryException(
                    Reason.INVALID,
                    "a lease of " + lease.toMillis()
                            + " ms is lost by every pause of the garbage collector; use 1 s or more");
        }
        if (timeout.isZero() || timeout.isNegative()) {
            throw new DirectoryException(
                    Reason.INVALID, "the time limit of operations must be positive, not " + timeout);
        }
    }

    public DirectoryOptions withLease(Duration newLease) {
        return new DirectoryOptions(newLease, timeout);
    }

    public DirectoryOptions withTimeout(Duration newTimeout) {
        return new DirectoryOptions(lease, newTimeout);
    }

    /**
     * The options behind the question mark of an address: {@code ?lease=30s&timeout=500ms}.
     *
     * @throws DirectoryException {@code INVALID} for anything else
     */
    public static DirectoryOptions of(URI address) {
        DirectoryOptions options = DirectoryOptions.DEFAULT;
        String query = address.getRawQuery();
        if (query == null) {
            return options;
        }
        for (String each : query.split("&", -1)) {
            Matcher option = OPTION.matcher(each.toLowerCase(Locale.ROOT));
            if (!option.matches()) {
                throw new DirectoryException(
                        Reason.INVALID,
                        "'" + each + "' in the directory address " + address
                                + " is not an option; there are lease and timeout, as in ?lease=30s&timeout=500ms");
            }
            long number = Long.parseLong(option.group(2));
            Duration duration = option.group(3).equals("s") ? Duration.ofSeconds(number) : Duration.ofMillis(number);
            options = option.group(1).equals("lease") ? options.withLease(duration) : options.withTimeout(duration);
        }
        return options;
    }

    static URI withoutOptions(URI address) {
        String text = address.toString();
        int query = text.indexOf('?');
        return query < 0 ? address : URI.create(text.substring(0, query));
    }
}
