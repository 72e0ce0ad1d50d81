package dev.rackcall.rdma;

import java.net.URI;

/**
 * Which devices connect the ends, and the scheme of their addresses. Both ends need a real device, or both a software
 * device.
 */
enum DeviceKind {
    /**
     * The real device with the local address, else the first real one. Without a real device, and within this host, the
     * software device.
     */
    BEST("rdma"),
    /** The software device. */
    SOFTWARE("soft");

    private final String scheme;

    DeviceKind(String scheme) {
        this.scheme = scheme;
    }

    String scheme() {
        return scheme;
    }

    URI address(String host, int port) {
        return URI.create(scheme + "://" + host + ":" + port);
    }
}
