package dev.rackcall.shm.os.file;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.shm.os.OsException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DescriptorTest {
    @TempDir
    private Path directory;

    /** Otherwise a thread inside could write to, or lock, the next file that gets the number. */
    @Test
    void shouldKeepItsNumberUntilTheLastUserHasLeft() {
        Path path = directory.resolve("file");
        int fd = OpenFile.open(path, LibcFiles.O_RDWR | LibcFiles.O_CREAT, 0600);
        FileStatus file = FileStatus.of(path).orElseThrow();
        Descriptor descriptor = new Descriptor(fd, "test");
        descriptor.enter();
        descriptor.enter();

        assertThat(descriptor.close()).isTrue();
        assertThat(descriptor.close()).isFalse();
        assertThat(descriptor.isClosed()).isTrue();
        assertThat(descriptor.tryEnter()).isFalse();
        assertThrown(IllegalStateException.class, descriptor::enter, "test");
        descriptor.exit();
        assertThat(isStill(file, fd)).isTrue();
        descriptor.exit();
        assertThat(isStill(file, fd)).isFalse();
    }

    private static boolean isStill(FileStatus file, int fd) {
        try {
            return FileStatus.of(fd, "test").isSameFile(file);
        } catch (OsException e) {
            return false;
        }
    }
}
