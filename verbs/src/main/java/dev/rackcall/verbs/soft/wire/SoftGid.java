package dev.rackcall.verbs.soft.wire;

import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;

/**
 * A software device's GID contains its address: 0xfd72 (16 bits), TCP port (16), the hash of its {@link GidProof} (64),
 * IPv4 address (32). The hash also distinguishes devices that listen at the same address one after the other.
 */
public final class SoftGid {
    private static final long PREFIX = 0xFD72;

    private SoftGid() {}

    static Gid of(InetSocketAddress address, long hash) {
        if (!(address.getAddress() instanceof Inet4Address ipv4) || ipv4.isAnyLocalAddress()) {
            throw new VerbsException(
                    "a software device at " + address,
                    VerbsErrno.EADDRNOTAVAIL,
                    "give it an IPv4 address of this host, at which its peers reach it");
        }
        long host = Integer.toUnsignedLong(ByteBuffer.wrap(ipv4.getAddress()).getInt());
        return new Gid(PREFIX << 48 | (long) address.getPort() << 32 | hash >>> 32, hash << 32 | host);
    }

    /** Whether this has the form of a software device's GID. */
    public static boolean isSoft(Gid gid) {
        return gid.high() >>> 48 == PREFIX && port(gid) != 0;
    }

    /** Whether this is the GID of a software device at this address. */
    public static boolean isAt(Gid gid, InetAddress host) {
        return isSoft(gid) && address(gid).getAddress().equals(host);
    }

    private static int port(Gid gid) {
        return (int) (gid.high() >>> 32) & 0xFFFF;
    }

    public static InetSocketAddress address(Gid gid) {
        if (!isSoft(gid)) {
            throw new VerbsException(
                    gid + " is not a software device's GID",
                    VerbsErrno.EINVAL,
                    "exchange GIDs between devices of one kind");
        }
        try {
            byte[] ipv4 = ByteBuffer.allocate(4).putInt((int) gid.low()).array();
            return new InetSocketAddress(InetAddress.getByAddress(ipv4), port(gid));
        } catch (UnknownHostException e) {
            throw new AssertionError("four bytes are an IPv4 address", e);
        }
    }
}
