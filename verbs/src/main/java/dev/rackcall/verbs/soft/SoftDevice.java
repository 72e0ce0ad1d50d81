package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.Gid;
import dev.rackcall.verbs.soft.device.SoftContext;
import dev.rackcall.verbs.soft.wire.GidProof;
import dev.rackcall.verbs.soft.wire.Network;
import dev.rackcall.verbs.soft.wire.SoftGid;
import java.net.InetAddress;
import java.net.InetSocketAddress;

/** A software device. It listens while it is open. */
public final class SoftDevice implements Device {
    /** Prefix of the names of software devices. */
    public static final String PREFIX = "soft:";

    private final String name;
    private final SoftOptions options;

    private SoftDevice(String name, SoftOptions options) {
        this.name = name;
        this.options = options;
    }

    /** A device of this name, without the prefix. */
    public static SoftDevice of(String name, SoftOptions options) {
        return new SoftDevice(PREFIX + name, options);
    }

    /**
     * Whether this is the GID of a software device at another address than this one. A peer that names such a GID would
     * choose the address to which this host's device connects.
     */
    public static boolean isElsewhere(Gid gid, InetAddress address) {
        return SoftGid.isSoft(gid) && !SoftGid.isAt(gid, address);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public Context open() {
        byte[] publicKey = options.tls().map(TlsOptions::publicKey).orElse(GidProof.noKey());
        Network network = new Network(
                name, options.tls().map(TlsOptions::server), options.tls().map(TlsOptions::client));
        InetSocketAddress address = new InetSocketAddress(options.address(), options.port());
        return SoftContext.open(
                this,
                network,
                address,
                publicKey,
                options.maxPeers(),
                options.faults().faults());
    }

    @Override
    public String toString() {
        return name;
    }
}
