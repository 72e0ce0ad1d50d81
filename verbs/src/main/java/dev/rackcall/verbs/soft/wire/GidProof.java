package dev.rackcall.verbs.soft.wire;

import dev.rackcall.verbs.Gid;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;

/**
 * What proves that a GID is the sender's own: 128 random bits. 64 bits of the GID are their hash, together with the
 * device's address and, with TLS, the public key of its certificate. Only the device's hello contains them, so a process
 * that merely knows a GID cannot claim it. With TLS, a peer that has received such a hello cannot either, because its
 * certificate has another key.
 */
public record GidProof(long high, long low) {
    private static final byte[] NO_KEY = {};

    /** In a refusal, which proves nothing. */
    static final GidProof NONE = new GidProof(0, 0);

    private static final SecureRandom RANDOM = new SecureRandom();

    public static GidProof random() {
        return new GidProof(RANDOM.nextLong(), RANDOM.nextLong());
    }

    /** The public key of a device without TLS. */
    public static byte[] noKey() {
        return NO_KEY;
    }

    /** The GID of a device at this address whose certificate has this public key. */
    public Gid gid(InetSocketAddress address, byte[] publicKey) {
        // Names the address and checks it; the hash follows.
        Gid unproven = SoftGid.of(address, 0);
        return SoftGid.of(address, hash(unproven, publicKey));
    }

    /** Whether this proves that the GID belongs to the peer whose certificate has this public key. */
    public boolean proves(Gid gid, byte[] publicKey) {
        return SoftGid.isSoft(gid) && gid(SoftGid.address(gid), publicKey).equals(gid);
    }

    private long hash(Gid address, byte[] publicKey) {
        ByteBuffer fixed = ByteBuffer.allocate(4 * Long.BYTES);
        fixed.putLong(address.high()).putLong(address.low()).putLong(high).putLong(low);
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(fixed.array());
            return ByteBuffer.wrap(digest.digest(publicKey)).getLong();
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError("every JDK has SHA-256", e);
        }
    }

    @Override
    public String toString() {
        // Its bits do not belong in a log.
        return "GidProof";
    }
}
