package dev.rackcall.samples.pages;

import dev.rackcall.testkit.TestCertificate;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files as RDMA's TLS needs them. */
final class Certificates {
    private Certificates() {}

    /** Makes {@code server.pem}, {@code server.key} and {@code authority.pem}, which trusts the first. */
    static void make(Path folder) throws IOException {
        TestCertificate made = TestCertificate.make(folder, "server");
        Files.copy(made.certificate(), folder.resolve("server.pem"));
        Files.copy(made.certificate(), folder.resolve("authority.pem"));
    }
}
