package dev.rackcall.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.shm.os.file.OwnerLock;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CleanCommandTest {
    private final StringWriter out = new StringWriter();

    @TempDir
    private Path directory;

    @Test
    void shouldRemoveWhatDeadServersHaveLeftAndNothingElse() throws IOException {
        Path old = Files.writeString(directory.resolve("shop+old@aaaaaa.lock"), "pid 1\n");
        Files.setPosixFilePermissions(old, PosixFilePermissions.fromString("rw-------"));
        Files.writeString(directory.resolve("yarn@aaaaaa.lock"), "# another program's\n");
        Files.createFile(directory.resolve("shop+old@aaaaaa"));
        Files.createFile(directory.resolve("shop+cart@bbbbbb"));
        try (OwnerLock living =
                OwnerLock.tryAcquire(directory.resolve("shop+cart@bbbbbb.lock")).orElseThrow()) {
            assertThat(clean()).isZero();

            assertThat(living).isNotNull();
            assertThat(directory).isDirectoryNotContaining("glob:**shop+old*");
            assertThat(directory.resolve("shop+cart@bbbbbb")).exists();
            assertThat(directory.resolve("yarn@aaaaaa.lock")).hasContent("# another program's\n");
            assertThat(out.toString())
                    .contains("removed  /shop/old")
                    .contains("served   /shop/cart")
                    .contains(directory + ": 1 dead channel removed, 1 channel served.");
        }
    }

    @Test
    void shouldDoNothingWithoutAFolder() {
        directory = directory.resolve("none");

        assertThat(clean()).isZero();
        assertThat(out.toString()).contains("nothing removed, no server runs here");
    }

    private int clean() {
        return RackcallCommand.commandLine()
                .setOut(new PrintWriter(out))
                .execute("clean", "--dir", directory.toString());
    }
}
