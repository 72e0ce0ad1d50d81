package dev.rackcall.rdma;

import dev.rackcall.verbs.soft.SoftOptions;
import java.util.Objects;

/** Settings of this process for connections over RDMA. Thread-safe. */
public final class RdmaSettings {
    private static volatile SoftOptions softwareDevices = SoftOptions.local();

    private RdmaSettings() {}

    /**
     * How software devices work that are opened from now on: with TLS and certificates, or with faults in tests. Address and port are chosen by the connection. A device
     * stays open, as it is, until the last connection over its address is closed.
     *
     * <p>TLS protects what is pushed: nobody without a certificate reaches the memory of this process. The greetings before it are not encrypted; they tell
     * keys, which are worth nothing without a certificate.
     */
    public static void softwareDevices(SoftOptions options) {
        softwareDevices = Objects.requireNonNull(options, "options");
    }

    static SoftOptions softwareDevices() {
        return softwareDevices;
    }
}
