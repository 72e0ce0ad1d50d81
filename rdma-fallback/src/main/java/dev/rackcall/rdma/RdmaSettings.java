package dev.rackcall.rdma;

import dev.rackcall.verbs.soft.SoftOptions;
import java.time.Duration;
import java.util.Objects;

/** Settings of this process for connections over RDMA. Thread-safe. */
public final class RdmaSettings {
    private static volatile SoftOptions softwareDevices = SoftOptions.local();

    private static volatile Duration helloTimeout = Duration.ofSeconds(5);

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

    /**
     * How long servers wait, each time, for a client that has reached their port and says nothing, until it is turned away, and half as long as they wait for all that it has to say: 5 s unless this is called. A client that has to load and compile all its
     * code first needs that long on an emulated processor; a longer time lets strangers keep the port's 64 places for longer.
     *
     * @param atMost positive
     */
    public static void helloTimeout(Duration atMost) {
        if (!atMost.isPositive()) {
            throw new IllegalArgumentException("servers cannot wait " + atMost + " for a client; set a positive time");
        }
        helloTimeout = atMost;
    }

    /** What is set. */
    public static Duration helloTimeout() {
        return helloTimeout;
    }
}
