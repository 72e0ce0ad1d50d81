package dev.rackcall.rdma;

import java.net.URI;

/** By which devices connections are made, and what the scheme of such addresses is. Two ends can only be connected by devices that are both real or both software. */
enum DeviceKind {
    /** The real one with the local address, else the first real one, else, and within this host, the software device. */
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
