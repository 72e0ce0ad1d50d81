package dev.rackcall.rdma;

import dev.rackcall.verbs.soft.TlsOptions;
import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.CertificateParsingException;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.Base64;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import javax.naming.InvalidNameException;
import javax.naming.ldap.LdapName;
import javax.naming.ldap.Rdn;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import javax.net.ssl.SSLSession;
import javax.net.ssl.SSLSocket;
import javax.net.ssl.TrustManagerFactory;

/**
 * TLS of the TCP connections over which two ends connect, with the certificates of the software device. Both ends need a
 * certificate that the other's authority has signed.
 */
final class PairTls {
    private static final char[] NO_PASSWORD = {};
    /** The kind of a DNS name in {@link X509Certificate#getSubjectAlternativeNames}. */
    private static final int DNS_NAME = 2;

    /** Made last: a process rarely has more than one. */
    private static volatile Optional<Made> last = Optional.empty();

    /** @param settings {@link RdmaSettings#changes} before its files were read */
    private record Made(TlsOptions options, int settings, SSLContext context) {}

    private PairTls() {}

    /**
     * TLS over this socket, whose handshake the caller starts. The caller keeps the socket and closes it.
     *
     * @throws SSLException if this process's files cannot be used
     */
    static SSLSocket over(Socket socket, TlsOptions options, boolean isServer) throws IOException {
        // The address instead of a name: devices are identified by their certificates' authority.
        SSLSocket tls = (SSLSocket) context(options)
                .getSocketFactory()
                .createSocket(socket, socket.getInetAddress().getHostAddress(), socket.getPort(), true);
        tls.setUseClientMode(!isServer);
        if (isServer) {
            tls.setNeedClientAuth(true);
        }
        return tls;
    }

    /**
     * The common name and the DNS names in the peer's certificate, which is verified.
     *
     * @throws SSLException if the certificate cannot be read
     */
    static Set<String> names(SSLSession session) throws SSLException {
        X509Certificate peer = (X509Certificate) session.getPeerCertificates()[0];
        Set<String> names = new HashSet<>();
        try {
            for (Rdn part : new LdapName(peer.getSubjectX500Principal().getName()).getRdns()) {
                if (part.getType().equalsIgnoreCase("CN")) {
                    names.add(part.getValue().toString());
                }
            }
            if (peer.getSubjectAlternativeNames() != null) {
                for (List<?> name : peer.getSubjectAlternativeNames()) {
                    if (name.get(0).equals(DNS_NAME)) {
                        names.add((String) name.get(1));
                    }
                }
            }
        } catch (InvalidNameException | CertificateParsingException e) {
            throw new SSLException("the peer's certificate has no readable names: " + e.getMessage(), e);
        }
        return names;
    }

    private static SSLContext context(TlsOptions options) throws IOException {
        int settings = RdmaSettings.changes();
        Optional<Made> known = last.filter(made -> made.options().equals(options) && made.settings() == settings);
        if (known.isPresent()) {
            return known.get().context();
        }
        try {
            SSLContext context = make(options);
            last = Optional.of(new Made(options, settings, context));
            return context;
        } catch (GeneralSecurityException | IllegalArgumentException e) {
            throw new SSLException(
                    "no TLS with " + options + ": " + e.getMessage()
                            + "; give PEM files: a certificate chain, its PKCS#8 key, the authority",
                    e);
        }
    }

    private static SSLContext make(TlsOptions options) throws IOException, GeneralSecurityException {
        KeyStore own = empty();
        own.setKeyEntry(
                "own",
                key(options.key()),
                NO_PASSWORD,
                certificates(options.certificates()).toArray(Certificate[]::new));
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(own, NO_PASSWORD);
        KeyStore authorities = empty();
        for (Certificate authority : certificates(options.authority())) {
            authorities.setCertificateEntry("authority" + authorities.size(), authority);
        }
        TrustManagerFactory trust = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trust.init(authorities);
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), trust.getTrustManagers(), null);
        return context;
    }

    private static KeyStore empty() throws IOException, GeneralSecurityException {
        KeyStore store = KeyStore.getInstance("PKCS12");
        store.load(null, null);
        return store;
    }

    private static Collection<? extends Certificate> certificates(Path pem)
            throws IOException, GeneralSecurityException {
        try (InputStream in = Files.newInputStream(pem)) {
            return CertificateFactory.getInstance("X.509").generateCertificates(in);
        }
    }

    private static PrivateKey key(Path pem) throws IOException, GeneralSecurityException {
        String text = Files.readString(pem);
        String body = text.replaceAll("(?s).*-----BEGIN PRIVATE KEY-----(.*)-----END PRIVATE KEY-----.*", "$1");
        PKCS8EncodedKeySpec encoded =
                new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(body));
        InvalidKeySpecException unknown = new InvalidKeySpecException(pem + " is not a PKCS#8 key of EC, RSA or EdDSA");
        // The PEM file does not name the algorithm.
        for (String algorithm : new String[] {"EC", "RSA", "EdDSA"}) {
            try {
                return KeyFactory.getInstance(algorithm).generatePrivate(encoded);
            } catch (InvalidKeySpecException e) {
                unknown.addSuppressed(e);
            }
        }
        throw unknown;
    }
}
