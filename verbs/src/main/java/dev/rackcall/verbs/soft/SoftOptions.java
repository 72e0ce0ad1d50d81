package dev.rackcall.verbs.soft;

import java.net.InetAddress;
import java.util.Objects;
import java.util.Optional;

/**
 * Options of a software device. Start with {@link #local}.
 *
 * @param address the IPv4 address at which it listens
 * @param port the TCP port, 0 for any free one
 * @param maxPeers maximum number of connected devices. A further one takes the place of a device without queue pairs
 *     here; if there is none, it is refused. A process has one device for {@code soft://} and each agent has one
 * @param tls certificates, or nothing for plain TCP, where every peer that reaches the port may try keys
 * @param faults injected faults
 */
public record SoftOptions(InetAddress address, int port, int maxPeers, Optional<TlsOptions> tls, FaultPlan faults) {
    /** The maximum number of peers unless {@link #withMaxPeers} sets another: room for a thousand processes. */
    public static final int MAX_PEERS = 2048;

    /** Checks the values. */
    public SoftOptions {
        Objects.requireNonNull(address, "address");
        Objects.requireNonNull(tls, "tls");
        Objects.requireNonNull(faults, "faults");
        if (port < 0 || port > 0xFFFF || maxPeers < 1) {
            throw new IllegalArgumentException(
                    "not a software device: port " + port + " (0-65535), " + maxPeers + " peers (1 at least)");
        }
    }

    /** For peers on this host: 127.0.0.1, any port, {@link #MAX_PEERS}, no TLS, no faults. */
    public static SoftOptions local() {
        return new SoftOptions(InetAddress.ofLiteral("127.0.0.1"), 0, MAX_PEERS, Optional.empty(), FaultPlan.none());
    }

    /** The same at this address and port. */
    public SoftOptions at(InetAddress newAddress, int newPort) {
        return new SoftOptions(newAddress, newPort, maxPeers, tls, faults);
    }

    /** The same with this many peers at most. */
    public SoftOptions withMaxPeers(int peers) {
        return new SoftOptions(address, port, peers, tls, faults);
    }

    /** The same with TLS. */
    public SoftOptions withTls(TlsOptions certificates) {
        return new SoftOptions(address, port, maxPeers, Optional.of(certificates), faults);
    }

    /** The same with these faults. */
    public SoftOptions withFaults(FaultPlan plan) {
        return new SoftOptions(address, port, maxPeers, tls, plan);
    }
}
