package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.Context;
import dev.rackcall.verbs.Device;
import dev.rackcall.verbs.soft.device.SoftContext;
import dev.rackcall.verbs.soft.wire.Network;
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

    @Override
    public String name() {
        return name;
    }

    @Override
    public Context open() {
        Network network = new Network(
                name, options.tls().map(TlsOptions::server), options.tls().map(TlsOptions::client));
        InetSocketAddress address = new InetSocketAddress(options.address(), options.port());
        return SoftContext.open(
                this, network, address, options.maxPeers(), options.faults().faults());
    }

    @Override
    public String toString() {
        return name;
    }
}
