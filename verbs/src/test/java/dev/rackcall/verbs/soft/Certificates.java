package dev.rackcall.verbs.soft;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.Base64;
import java.util.concurrent.TimeUnit;

/** Self-signed certificates, made with the JDK's keytool. */
final class Certificates {
    private static final String PASSWORD = "for-tests";

    private final Path folder;

    Certificates(Path folder) {
        this.folder = folder;
    }

    /** Writes NAME.crt and NAME.key. */
    void make(String name) throws Exception {
        Path store = folder.resolve(name + ".p12");
        Process keytool = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "keytool")
                                .toString(),
                        "-J-XX:TieredStopAtLevel=1",
                        "-J-XX:+UseSerialGC",
                        "-genkeypair",
                        "-alias",
                        name,
                        "-keyalg",
                        "EC",
                        "-dname",
                        "CN=" + name,
                        "-validity",
                        "2",
                        "-storetype",
                        "PKCS12",
                        "-keystore",
                        store.toString(),
                        "-storepass",
                        PASSWORD)
                .inheritIO()
                .start();
        assertThat(keytool.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(keytool.exitValue()).isZero();
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        Files.writeString(
                certificate(name), pem("CERTIFICATE", keys.getCertificate(name).getEncoded()));
        Files.writeString(
                key(name),
                pem("PRIVATE KEY", keys.getKey(name, PASSWORD.toCharArray()).getEncoded()));
    }

    Path certificate(String name) {
        return folder.resolve(name + ".crt");
    }

    private Path key(String name) {
        return folder.resolve(name + ".key");
    }

    /** This device, which trusts those. */
    TlsOptions options(String name, String... trusted) throws Exception {
        StringBuilder authority = new StringBuilder();
        for (String other : trusted) {
            authority.append(Files.readString(certificate(other)));
        }
        Path file = folder.resolve(name + ".trust");
        Files.writeString(file, authority.toString());
        return new TlsOptions(certificate(name), key(name), file);
    }

    private static String pem(String what, byte[] bytes) {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
        return "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n";
    }
}
