package dev.rackcall.rdma;

import java.net.URI;

/**
 * {@code rdma://host:port}: over this host's RDMA device; over a software device if the host has none or the address is
 * its own.
 */
public final class RdmaCarriers extends PairCarriers {
    /** For {@code ServiceLoader}. */
    public RdmaCarriers() {
        super(DeviceKind.BEST);
    }

    @Override
    public boolean isHardware(URI address) {
        return RdmaDevice.isReal(isLoopback(address.getHost()));
    }

    /**
     * A client with a real device can also reach a host without one, if the announced address names the software
     * device.
     */
    @Override
    public URI announced(URI listening) {
        return isHardware(listening)
                ? listening
                : DeviceKind.SOFTWARE.address(listening.getHost(), listening.getPort());
    }
}
