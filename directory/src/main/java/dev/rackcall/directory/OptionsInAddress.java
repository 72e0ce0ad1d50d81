package dev.rackcall.directory;

import dev.rackcall.directory.DirectoryException.Reason;
import java.net.URI;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The options that a directory's address may name behind a question mark: {@code ?lease=30s&timeout=500ms}. */
final class OptionsInAddress {
    private static final Pattern OPTION = Pattern.compile("(lease|timeout)=(\\d{1,9})(ms|s)");

    private OptionsInAddress() {}

    /** @throws DirectoryException {@code INVALID} for what is no option */
    static DirectoryOptions read(URI address) {
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
                                + " is no option; there are lease and timeout, as in ?lease=30s&timeout=500ms");
            }
            long number = Long.parseLong(option.group(2));
            Duration duration = option.group(3).equals("s") ? Duration.ofSeconds(number) : Duration.ofMillis(number);
            options = option.group(1).equals("lease") ? options.withLease(duration) : options.withTimeout(duration);
        }
        return options;
    }

    static URI without(URI address) {
        String text = address.toString();
        int query = text.indexOf('?');
        return query < 0 ? address : URI.create(text.substring(0, query));
    }
}
