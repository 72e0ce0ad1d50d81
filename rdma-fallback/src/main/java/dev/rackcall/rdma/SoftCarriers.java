package dev.rackcall.rdma;

/** {@code soft://host:port}: by software devices over TCP, whatever RDMA devices the two hosts have: between a host that has one and a host that has none, or while one does not work. */
public final class SoftCarriers extends PairCarriers {
    /** For {@code ServiceLoader}. */
    public SoftCarriers() {
        super(DeviceKind.SOFTWARE);
    }
}
