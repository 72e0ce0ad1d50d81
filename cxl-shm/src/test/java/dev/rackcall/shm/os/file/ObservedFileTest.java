package dev.rackcall.shm.os.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of other processes. A device-dax device is in the rack test, since it takes a kernel with one. */
class ObservedFileTest {
    @TempDir
    private Path directory;

    private static String read(ObservedFile file, long position, int length) throws IOException {
        ByteBuffer into = ByteBuffer.allocate(length);
        file.read(into, position);
        return StandardCharsets.US_ASCII.decode(into.flip()).toString();
    }

    @Test
    void shouldReadAPartOfAFile() throws IOException {
        Path path = Files.writeString(directory.resolve("file"), "0123456789");
        try (ObservedFile part = ObservedFile.open(path, 4, 6)) {
            assertThat(part.bytes()).isEqualTo(6);
            assertThat(read(part, 0, 2)).isEqualTo("45");
            assertThat(read(part, 3, 3)).isEqualTo("789");
        }
        try (ObservedFile whole = ObservedFile.open(path)) {
            assertThat(whole.bytes()).isEqualTo(10);
            assertThat(read(whole, 0, 2)).isEqualTo("01");
            Files.writeString(path, "x");
            assertThat(read(whole, 0, 2)).as("after its owner has truncated it").isEqualTo("x");
        }
    }

    @Test
    void shouldRefuseWhatTheFileDoesNotHave() throws IOException {
        Path path = Files.writeString(directory.resolve("file"), "0123456789");
        long[][] parts = {{-1, 2}, {0, -1}, {0, 11}, {5, 6}, {11, 0}, {Long.MAX_VALUE, 1}, {1, Long.MAX_VALUE}};
        for (long[] part : parts) {
            assertThatThrownBy(() -> ObservedFile.open(path, part[0], part[1]))
                    .isInstanceOf(EOFException.class)
                    .hasMessageContaining("has 10 bytes");
        }
        assertThatThrownBy(() -> ObservedFile.open(directory, 0, 1)).hasMessageContaining("no regular file");
        for (String device : List.of("/dev/null", "/dev/ptmx")) {
            assertThatThrownBy(() -> ObservedFile.open(Path.of(device), 0, 1)).isInstanceOf(IOException.class);
            assertThatThrownBy(() -> ObservedFile.open(Path.of(device))).hasMessageContaining("no regular file");
        }
    }
}
