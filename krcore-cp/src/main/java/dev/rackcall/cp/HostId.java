package dev.rackcall.cp;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The name of a host in the control plane. Unlike the host's addresses, it stays the same when the agent restarts.
 *
 * @param value any number but 0
 */
public record HostId(long value) {
    /** The names that this process has used, for messages. */
    private static final Map<Long, String> NAMES = new ConcurrentHashMap<>();

    private static final int MOST_NAMES = 10_000;

    /** Checks that it is not 0. */
    public HostId {
        if (value == 0) {
            throw new IllegalArgumentException("0 is not the number of a host; it marks empty places");
        }
    }

    /** The id of a name: the first eight bytes of its SHA-256. */
    public static HostId named(String name) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
            long value = ByteBuffer.wrap(digest).getLong();
            HostId id = new HostId(value == 0 ? 1 : value);
            if (NAMES.size() < MOST_NAMES) {
                NAMES.putIfAbsent(id.value, name);
            }
            return id;
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    /** Adds this host's name to a message from a process that may know only its number. */
    public String nameIn(String message) {
        return message.replace("host " + number() + " ", this + " ");
    }

    private String number() {
        return Long.toHexString(value);
    }

    @Override
    public String toString() {
        String number = number();
        String name = NAMES.get(value);
        return name == null ? "host " + number : "host " + name + " (" + number + ")";
    }
}
