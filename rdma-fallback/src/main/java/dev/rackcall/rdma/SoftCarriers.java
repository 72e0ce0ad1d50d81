package dev.rackcall.rdma;

/**
 * {@code soft://host:port}: over software devices and TCP, whatever RDMA devices the hosts have. Connects a host with
 * an RDMA device to one without, or replaces a device that does not work.
 */
public final class SoftCarriers extends PairCarriers {
    /** For {@code ServiceLoader}. */
    public SoftCarriers() {
        super(DeviceKind.SOFTWARE);
    }
}
