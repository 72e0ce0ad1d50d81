package dev.rackcall.verbs.soft;

import dev.rackcall.verbs.VerbsErrno;
import dev.rackcall.verbs.VerbsException;
import io.netty.handler.ssl.ClientAuth;
import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.util.Objects;
import javax.net.ssl.SSLException;

/**
 * Mutual TLS for a software device: it accepts only peers whose certificate an authority has signed.
 *
 * @param certificates this device's certificate chain, PEM
 * @param key its private key, PKCS#8 PEM without password
 * @param authority certificates of the authorities that sign peers' certificates, PEM
 */
public record TlsOptions(Path certificates, Path key, Path authority) {
    /** Checks that all three are present. */
    public TlsOptions {
        Objects.requireNonNull(certificates, "certificates");
        Objects.requireNonNull(key, "key");
        Objects.requireNonNull(authority, "authority");
    }

    SslContext server() {
        try {
            return SslContextBuilder.forServer(certificates.toFile(), key.toFile())
                    .trustManager(authority.toFile())
                    .clientAuth(ClientAuth.REQUIRE)
                    .build();
        } catch (SSLException | IllegalArgumentException e) {
            throw unusable(e);
        }
    }

    SslContext client() {
        try {
            // Devices are identified by GID, not by host name: the authority's signature is what counts.
            return SslContextBuilder.forClient()
                    .keyManager(certificates.toFile(), key.toFile())
                    .trustManager(authority.toFile())
                    .endpointIdentificationAlgorithm("")
                    .build();
        } catch (SSLException | IllegalArgumentException e) {
            throw unusable(e);
        }
    }

    /** The public key of this device's certificate. */
    byte[] publicKey() {
        try (InputStream in = Files.newInputStream(certificates)) {
            return CertificateFactory.getInstance("X.509")
                    .generateCertificate(in)
                    .getPublicKey()
                    .getEncoded();
        } catch (IOException | CertificateException e) {
            throw unusable(e);
        }
    }

    private VerbsException unusable(Exception cause) {
        return new VerbsException(
                "opening a software device with " + this,
                VerbsErrno.EINVAL,
                "give PEM files: a certificate chain, its PKCS#8 key, the authority (" + cause.getMessage() + ")",
                cause);
    }
}
