package dev.rackcall.cp;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * The name of a host in the control plane. It stays the same when the host's agent restarts, unlike what the host is reached by.
 *
 * @param value any number but 0
 */
public record HostId(long value) {
    /** Checks that it is not 0. */
    public HostId {
        if (value == 0) {
            throw new IllegalArgumentException("0 is not the number of a host; it marks empty places");
        }
    }

    /** From a name: the first eight bytes of its SHA-256. */
    public static HostId named(String name) {
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(name.getBytes(StandardCharsets.UTF_8));
            long value = ByteBuffer.wrap(digest).getLong();
            return new HostId(value == 0 ? 1 : value);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every Java platform has SHA-256", e);
        }
    }

    @Override
    public String toString() {
        return "host " + Long.toHexString(value);
    }
}
