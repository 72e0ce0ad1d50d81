package dev.rackcall.rdma;

import dev.rackcall.verbs.soft.TlsOptions;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.Base64;

/** A self-signed certificate and its key, made with the JDK's keytool. */
final class TlsFiles {
    private static final String PASSWORD = "for-tests";

    private final Path certificate;
    private final Path key;

    private TlsFiles(Path certificate, Path key) {
        this.certificate = certificate;
        this.key = key;
    }

    static TlsFiles make(Path folder, String name) throws IOException, InterruptedException, GeneralSecurityException {
        Path store = folder.resolve(name + ".p12");
        String command = "-J-XX:TieredStopAtLevel=1 -J-XX:+UseSerialGC -genkeypair -alias it -keyalg EC -dname CN="
                + name + " -validity 2 -storetype PKCS12" + " -storepass " + PASSWORD + " -keystore " + store;
        ProcessBuilder keytool = new ProcessBuilder(command.split(" ")).inheritIO();
        keytool.command()
                .addFirst(Path.of(System.getProperty("java.home"), "bin", "keytool")
                        .toString());
        int exit = keytool.start().waitFor();
        if (exit != 0) {
            throw new IOException("keytool ended with " + exit);
        }
        KeyStore keys = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(store)) {
            keys.load(in, PASSWORD.toCharArray());
        }
        return new TlsFiles(
                pem(
                        folder.resolve(name + ".crt"),
                        "CERTIFICATE",
                        keys.getCertificate("it").getEncoded()),
                pem(
                        folder.resolve(name + ".key"),
                        "PRIVATE KEY",
                        keys.getKey("it", PASSWORD.toCharArray()).getEncoded()));
    }

    private static Path pem(Path file, String what, byte[] bytes) throws IOException {
        String text = Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(bytes);
        return Files.writeString(file, "-----BEGIN " + what + "-----\n" + text + "\n-----END " + what + "-----\n");
    }

    TlsOptions trusting(TlsFiles peer) {
        return new TlsOptions(certificate, key, peer.certificate);
    }
}
