package dev.rackcall.directory;

import dev.rackcall.directory.DirectoryException.Reason;
import java.util.regex.Pattern;

/**
 * The hierarchical name of a channel, such as {@code /shop/cart}. A channel is independent of the channels below its
 * name.
 *
 * @param text segments of letters, digits and {@code . _ -}, each after a slash; 80 characters at most
 */
public record ChannelName(String text) implements Comparable<ChannelName> {
    private static final int MAX_LENGTH = 80;
    private static final Pattern FORM = Pattern.compile("(/(?!\\.{1,2}(/|$))[A-Za-z0-9._-]+)+");

    /** Checks the form. */
    public ChannelName {
        if (text.length() > MAX_LENGTH) {
            throw new DirectoryException(
                    Reason.INVALID,
                    "the channel name " + text.substring(0, MAX_LENGTH) + "... has " + text.length()
                            + " characters; use " + MAX_LENGTH + " at most");
        }
        if (!FORM.matcher(text).matches()) {
            throw new DirectoryException(
                    Reason.INVALID,
                    "'" + text
                            + "' is not a channel name; write segments of letters, digits, . _ -, each after a slash,"
                            + " as in /shop/cart");
        }
    }

    public static ChannelName of(String text) {
        return new ChannelName(text);
    }

    @Override
    public int compareTo(ChannelName other) {
        return text.compareTo(other.text);
    }

    @Override
    public String toString() {
        return text;
    }
}
