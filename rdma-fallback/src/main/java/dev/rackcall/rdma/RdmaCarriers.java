package dev.rackcall.rdma;

import java.net.InetAddress;
import java.net.URI;

/** {@code rdma://host:port}: by this host's RDMA device, if it has one and the address is not of this host only, else by a software device over TCP. */
public final class RdmaCarriers extends PairCarriers {
    /** For {@code ServiceLoader}. */
    public RdmaCarriers() {
        super(DeviceKind.BEST);
    }

    @Override
    public boolean isHardware(URI address) {
        return RdmaDevice.isReal(isLoopback(address.getHost()));
    }

    /** A host that has a device may come to one that has none, if it knows that it must do without. */
    @Override
    public URI announced(URI listening) {
        return isHardware(listening)
                ? listening
                : DeviceKind.SOFTWARE.address(listening.getHost(), listening.getPort());
    }

    /** Without asking anybody what a name stands for. */
    private static boolean isLoopback(String host) {
        if (host == null) {
            return false;
        }
        try {
            return host.equals("localhost") || InetAddress.ofLiteral(host).isLoopbackAddress();
        } catch (IllegalArgumentException e) {
            // A name.
            return false;
        }
    }
}
