package dev.rackcall.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.shm.os.OwnerLock;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CleanCommandTest {
    private final StringWriter out = new StringWriter();

    @TempDir
    private Path directory;

    @Test
    void shouldRemoveWhatDeadServersHaveLeftAndNothingElse() throws IOException {
        Files.createFile(directory.resolve("shop+old.lock"));
        Files.createFile(directory.resolve("shop+old.sock"));
        Files.createFile(directory.resolve("shop+cart.sock"));
        try (OwnerLock living =
                OwnerLock.tryAcquire(directory.resolve("shop+cart.lock")).orElseThrow()) {
            assertThat(clean()).isZero();

            assertThat(living).isNotNull();
            assertThat(directory).isDirectoryNotContaining("glob:**shop+old*");
            assertThat(directory.resolve("shop+cart.sock")).exists();
            assertThat(out.toString())
                    .contains("removed  /shop/old")
                    .contains("served   /shop/cart")
                    .contains(directory + ": 1 dead channel removed, 1 channel served.");
        }
    }

    @Test
    void shouldHaveNothingToDoWhereThereIsNoFolder() {
        directory = directory.resolve("none");

        assertThat(clean()).isZero();
        assertThat(out.toString()).contains("nothing removed, nobody serves here");
    }

    private int clean() {
        return RackcallCommand.commandLine()
                .setOut(new PrintWriter(out))
                .execute("clean", "--dir", directory.toString());
    }
}
