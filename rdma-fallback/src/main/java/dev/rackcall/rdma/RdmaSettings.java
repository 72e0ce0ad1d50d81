package dev.rackcall.rdma;

import dev.rackcall.verbs.soft.SoftOptions;
import dev.rackcall.verbs.soft.TlsOptions;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/** Settings of this process for connections over RDMA. Thread-safe. */
public final class RdmaSettings {
    private static volatile SoftOptions softwareDevices = SoftOptions.local();
    private static final AtomicInteger CHANGES = new AtomicInteger();

    private static volatile Duration helloTimeout = Duration.ofSeconds(5);

    private RdmaSettings() {}

    /**
     * The options of software devices that are opened from now on: TLS with certificates, or faults in tests. The
     * connection chooses address and port. An open device keeps its options until the last connection over its address
     * is closed.
     *
     * <p>TLS protects the memory of this process: no peer without a certificate reaches it. The TCP connections over
     * which ends connect use TLS with the same certificates.
     */
    public static void softwareDevices(SoftOptions options) {
        softwareDevices = Objects.requireNonNull(options, "options");
        CHANGES.incrementAndGet();
    }

    /**
     * Lets software devices that are opened from now on connect only to peers with a certificate that the authority has
     * signed. Otherwise as {@link #softwareDevices}.
     *
     * @param certificates this process's certificate chain, PEM
     * @param key its private key, PKCS#8 PEM without password
     * @param authority certificates of the authorities that sign peers' certificates, PEM
     */
    public static void tls(Path certificates, Path key, Path authority) {
        softwareDevices(softwareDevices.withTls(new TlsOptions(certificates, key, authority)));
    }

    /** How often the options of software devices were set, also to the same: the files that they name may be others. */
    static int changes() {
        return CHANGES.get();
    }

    static SoftOptions softwareDevices() {
        return softwareDevices;
    }

    /**
     * How long servers wait for each step of a client's handshake; 5 s by default. Over TCP, all steps together may
     * take twice that. On an emulated processor, a client that first loads and compiles its code may need longer. With
     * a longer time, unknown clients can occupy the port's places for longer.
     */
    public static void helloTimeout(Duration atMost) {
        if (!atMost.isPositive()) {
            throw new IllegalArgumentException("servers cannot wait " + atMost + " for a client; set a positive time");
        }
        helloTimeout = atMost;
    }

    /** The timeout that is set. */
    public static Duration helloTimeout() {
        return helloTimeout;
    }
}
