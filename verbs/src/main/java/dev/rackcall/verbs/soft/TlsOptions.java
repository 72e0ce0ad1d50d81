package dev.rackcall.verbs.soft;

import java.nio.file.Path;
import java.util.Objects;

/**
 * TLS for a software device, with certificates at both ends: a device talks only to devices whose certificate the authority signed.
 *
 * @param certificates the own certificate chain, PEM
 * @param key its private key, PKCS#8 PEM without password
 * @param authority certificates of the authorities that peers' certificates must come from, PEM
 */
public record TlsOptions(Path certificates, Path key, Path authority) {
    /** Checks that all three are there. */
    public TlsOptions {
        Objects.requireNonNull(certificates, "certificates");
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(authority, "authority");
    }
}
