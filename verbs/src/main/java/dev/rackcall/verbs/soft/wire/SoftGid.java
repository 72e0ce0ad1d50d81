package dev.rackcall.verbs.soft.wire;

import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.security.SecureRandom;

/**
 * A software device's GID contains its address: 0xfd726b00 (32 bits), TCP port (16), a random instance number (48),
 * IPv4 address (32). The instance number distinguishes devices that listen at the same address one after the other.
 */
public final class SoftGid {
    private static final int PREFIX = 0xFD726B00;
    private static final SecureRandom RANDOM = new SecureRandom();

    private SoftGid() {}

    public static Gid of(InetSocketAddress address) {
        if (!(address.getAddress() instanceof Inet4Address ipv4)) {
            throw new VerbsException(
                    "a software device at " + address,
                    VerbsErrno.EADDRNOTAVAIL,
                    "give it an IPv4 address of this host");
        }
        long instance = RANDOM.nextLong();
        long high = Integer.toUnsignedLong(PREFIX) << 32 | (long) address.getPort() << 16 | instance >>> 48;
        long low = instance << 32
                | Integer.toUnsignedLong(ByteBuffer.wrap(ipv4.getAddress()).getInt());
        return new Gid(high, low);
    }

    public static InetSocketAddress address(Gid gid) {
        int port = (int) (gid.high() >>> 16) & 0xFFFF;
        if (gid.high() >>> 32 != Integer.toUnsignedLong(PREFIX) || port == 0) {
            throw new VerbsException(
                    gid + " is not a software device's GID",
                    VerbsErrno.EINVAL,
                    "exchange GIDs between devices of one kind");
        }
        try {
            byte[] ipv4 = ByteBuffer.allocate(4).putInt((int) gid.low()).array();
            return new InetSocketAddress(InetAddress.getByAddress(ipv4), port);
        } catch (UnknownHostException e) {
            throw new AssertionError("four bytes are an IPv4 address", e);
        }
    }
}
