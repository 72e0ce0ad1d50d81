package dev.rackcall.testkit;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;

/**
 * A self-signed certificate and its key as PEM files, made with the JDK's keytool.
 *
 * @param certificate NAME.crt
 * @param key NAME.key
 */
public record TestCertificate(Path certificate, Path key) {
    private static final String PASSWORD = "for-tests";

    /** Makes the files {@code NAME.crt} and {@code NAME.key} in a folder. */
    public static TestCertificate make(Path folder, String name) {
        Path store = folder.resolve(name + ".p12");
        String keytool = Path.of(System.getProperty("java.home"), "bin", "keytool")
                + " -J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC -genkeypair -alias it -keyalg EC -dname CN=" + name
                + " -validity 2 -storetype PKCS12 -storepass " + PASSWORD + " -keystore";
        try {
            ProcessBuilder builder = new ProcessBuilder(keytool.split(" ")).inheritIO();
            builder.command().add(store.toString());
            int exit = builder.start().waitFor();
            if (exit != 0) {
                throw new AssertionError("keytool ended with " + exit);
            }
            KeyStore keys = KeyStore.getInstance("PKCS12");
            try (InputStream in = Files.newInputStream(store)) {
                keys.load(in, PASSWORD.toCharArray());
            }
            return new TestCertificate(
                    pem(
                            folder.resolve(name + ".crt"),
                            "CERTIFICATE",
                            keys.getCertificate("it").getEncoded()),
                    pem(
                            folder.resolve(name + ".key"),
                            "PRIVATE KEY",
                            keys.getKey("it", PASSWORD.toCharArray()).getEncoded()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (GeneralSecurityException | InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static Path pem(Path file, String what, byte[] bytes) throws IOException {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
        return Files.writeString(file, "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n");
    }
}
