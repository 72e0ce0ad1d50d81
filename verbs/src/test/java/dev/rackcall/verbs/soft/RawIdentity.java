package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.soft.wire.FrameLayout;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.security.SecureRandom;

/** A GID and its proof, made by the rules of the wire format and not by the product's classes. */
record RawIdentity(Gid gid, ByteBuffer proof) {
    private static final long PREFIX = 0xFD72;
    private static final int PROOF_BYTES = 16;
    private static final byte[] NO_KEY = {};

    /** A device at this address without TLS. */
    static RawIdentity at(InetSocketAddress address) {
        return at(address, NO_KEY);
    }

    /** A device at any port of this host's loopback address, without TLS. */
    static RawIdentity local() {
        return at(new InetSocketAddress(InetAddress.ofLiteral("127.0.0.1"), 4242));
    }

    static RawIdentity at(InetSocketAddress address, byte[] publicKey) {
        byte[] proof = new byte[PROOF_BYTES];
        new SecureRandom().nextBytes(proof);
        long host = Integer.toUnsignedLong(
                ByteBuffer.wrap(address.getAddress().getAddress()).getInt());
        long high = PREFIX << 48 | (long) address.getPort() << 32;
        try {
            MessageDigest digest = MessageDigest.getInstance("SHA-256");
            digest.update(new Gid(high, host).toBytes());
            digest.update(proof);
            long hash = ByteBuffer.wrap(digest.digest(publicKey)).getLong();
            return new RawIdentity(new Gid(high | hash >>> 32, hash << 32 | host), ByteBuffer.wrap(proof));
        } catch (GeneralSecurityException e) {
            throw new AssertionError(e);
        }
    }

    /** The same proof for another GID: a claim. */
    RawIdentity claiming(Gid other) {
        return new RawIdentity(other, proof);
    }

    ByteBuffer hello(Gid target) {
        return hello(FrameLayout.MAGIC, FrameLayout.VERSION, target);
    }

    ByteBuffer hello(int magic, int version, Gid target) {
        return ByteBuffer.allocate(FrameLayout.HELLO_BYTES)
                .order(ByteOrder.LITTLE_ENDIAN)
                .putInt(magic)
                .putInt(version)
                .put(gid.toBytes())
                .put(target.toBytes())
                .putInt(0)
                .put(proof.duplicate())
                .rewind();
    }
}
