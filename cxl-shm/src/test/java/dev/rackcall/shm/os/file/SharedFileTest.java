package dev.rackcall.shm.os.file;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.shm.os.CallState;
import dev.rackcall.shm.os.Errno;
import dev.rackcall.shm.os.Futex;
import dev.rackcall.shm.os.OsException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SharedFileTest {
    @TempDir
    private Path directory;

    @Test
    void shouldShareOneMemfdBetweenMappings() {
        try (SharedFile file = SharedFile.memfd("test", 10_000);
                Mapping left = file.map();
                Mapping right = file.map()) {
            file.reserve(0, file.bytes());
            left.memory().set(JAVA_LONG, 8, 42);

            assertThat(file.bytes()).isEqualTo(12_288);
            assertThat(right.memory().get(JAVA_LONG, 8)).isEqualTo(42);
            assertThat(file.isSealed()).isTrue();
            assertThat(file.path()).isEmpty();
        }
    }

    @Test
    void shouldAskForNoMemoryThatIsReservedAlready() {
        try (SharedFile file = SharedFile.memfd("test", 8 * 4096);
                SharedFile other = file.window(0, file.bytes())) {
            assertThat(missing(other, 2 * 4096)).as("as much as it is about").isEqualTo(2 * 4096);
            assertThat(missing(other, other.bytes())).isEqualTo(8 * 4096);
            file.reserve(0, 5 * 4096);
            assertThat(missing(other, other.bytes())).isEqualTo(3 * 4096);
            file.reserve(0, file.bytes());
            assertThat(missing(other, other.bytes())).isZero();
        }
    }

    private static long missing(SharedFile file, long length) {
        return MemoryBudget.missing(FileStatus.of(file.fd(), "test"), length);
    }

    @Test
    void shouldHoldTheLengthOfASealedMemfd() {
        try (SharedFile file = SharedFile.memfd("test", 8192)) {
            CallState state = CallState.current();

            assertThat(LibcFiles.ftruncate(state.errnoSegment(), file.fd(), 4096))
                    .isEqualTo(-1);
            assertThat(state.errno()).isEqualTo(Errno.EPERM);
        }
    }

    @Test
    void shouldRefuseEveryAccessAfterUnmapping() {
        try (SharedFile file = SharedFile.memfd("test", 4096)) {
            Mapping mapping = file.map();
            MemorySegment slice = mapping.memory().asSlice(64, 64);
            mapping.close();
            mapping.close();

            assertThatThrownBy(() -> slice.get(JAVA_INT, 0)).isInstanceOf(IllegalStateException.class);
            assertThatThrownBy(() -> Futex.await(slice, 0, 0, 0)).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void shouldKeepTheMappingAfterClosingTheFile() {
        SharedFile file = SharedFile.memfd("test", 4096);
        file.reserve(0, 4096);
        try (Mapping mapping = file.map()) {
            file.close();
            file.close();
            mapping.memory().set(JAVA_INT, 0, 7);

            assertThat(mapping.memory().get(JAVA_INT, 0)).isEqualTo(7);
            assertThrown(IllegalStateException.class, file::fd, "closed");
            assertThatThrownBy(file::map).isInstanceOf(IllegalStateException.class);
        }
    }

    @Test
    void shouldCreateAndOpenANamedFileForItsOwnerOnly() throws IOException {
        Path path = directory.resolve("pool");
        try (SharedFile created = SharedFile.createFile(path, 8192);
                SharedFile opened = SharedFile.openFile(path);
                Mapping left = created.map();
                Mapping right = opened.map()) {
            created.reserve(0, 8192);
            left.memory().set(JAVA_INT, 4096, 9);

            assertThat(right.memory().get(JAVA_INT, 4096)).isEqualTo(9);
            assertThat(opened.path()).contains(path);
            assertThat(opened.isSealed()).isFalse();
            assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(path)))
                    .isEqualTo("rw-------");
        }
    }

    @Test
    void shouldSayWhatIsWrongWithAPath() throws IOException {
        Path there = Files.createFile(directory.resolve("there"));
        Path link = Files.createSymbolicLink(directory.resolve("link"), there);

        assertThrown(
                OsException.class, () -> SharedFile.openFile(directory.resolve("missing")), "missing", "ENOENT (2)");
        assertThatThrownBy(() -> SharedFile.createFile(there, 4096)).hasMessageContaining("EEXIST");
        assertThatThrownBy(() -> SharedFile.openFile(link)).hasMessageContaining("symbolic link");
        assertThatThrownBy(() -> SharedFile.openDax(there)).hasMessageContaining("no device-dax device");
        assertThatThrownBy(() -> SharedFile.openFile(directory)).isInstanceOf(OsException.class);
        assertThatThrownBy(() -> SharedFile.memfd("x", 0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void shouldAdoptAReceivedDescriptor() {
        try (SharedFile original = SharedFile.memfd("test", 4096)) {
            int copy = OpenFile.open(Path.of("/proc/self/fd/" + original.fd()), LibcFiles.O_RDWR, 0);
            try (SharedFile adopted = SharedFile.adopt(copy)) {
                assertThat(adopted.bytes()).isEqualTo(4096);
                assertThat(adopted.isSealed()).isTrue();
            }
        }
    }

    @Test
    void shouldRefuseToReserveMoreThanTheHostHas() {
        long tooMuch = MemoryBudget.availableBytes() + (8L << 30);
        assumeThat(tooMuch).isPositive();
        try (SharedFile file = SharedFile.memfd("greedy", tooMuch)) {
            assertThrown(OsException.class, () -> file.reserve(0, tooMuch), "ENOMEM", "left");
            assertThatThrownBy(() -> file.reserve(tooMuch, 4096)).isInstanceOf(IllegalArgumentException.class);
        }
    }

    @Test
    void shouldReadZerosWhereAPeerPunchedAHole() {
        try (SharedFile file = SharedFile.memfd("test", 4 * 4096);
                SharedFile peer = NamedFile.reopen(file);
                Mapping mapping = file.map()) {
            file.reserve(0, file.bytes());
            mapping.memory().fill((byte) 7);

            HostileFile.punchHole(peer, 4096, 2 * 4096);

            assertThat(mapping.memory().get(JAVA_INT, 4092)).isEqualTo(0x07070707);
            assertThat(mapping.memory().get(JAVA_LONG, 4096)).isZero();
            assertThat(mapping.memory().get(JAVA_LONG, 3 * 4096 - 8)).isZero();
            assertThat(mapping.memory().get(JAVA_INT, 3 * 4096)).isEqualTo(0x07070707);
            mapping.memory().set(JAVA_LONG, 4096, 42);
            assertThat(mapping.memory().get(JAVA_LONG, 4096)).isEqualTo(42);
            assertThat(file.isSealed()).isTrue();
        }
    }

    @Test
    void shouldSayThatTheHostHasNoHugePages() {
        try (SharedFile file = SharedFile.hugeMemfd("huge", 2 << 20);
                Mapping mapping = file.map()) {
            mapping.memory().set(JAVA_INT, 0, 1);
            assertThat(file.pageBytes()).isEqualTo(2 << 20);
        } catch (OsException e) {
            assertThat(e).hasMessageContainingAll("huge pages", "vm.nr_hugepages");
        }
    }

    @Test
    void shouldReadTheGeometryOfADaxDevice() throws IOException {
        Files.writeString(directory.resolve("size"), "1073741824\n");
        Files.writeString(directory.resolve("align"), "0x200000\n");

        assertThat(DaxGeometry.read(directory, Path.of("/dev/dax0.0"))).isEqualTo(new DaxGeometry(1L << 30, 2L << 20));

        Files.writeString(directory.resolve("align"), "3\n");
        assertThatThrownBy(() -> DaxGeometry.read(directory, Path.of("/dev/dax0.0")))
                .hasMessageContaining("alignment 3");
        Files.delete(directory.resolve("size"));
        assertThatThrownBy(() -> DaxGeometry.read(directory, Path.of("/dev/dax0.0")))
                .hasMessageContaining("devdax");
    }

    @Test
    void shouldLockSingleBytesBetweenOpenFiles() {
        Path path = directory.resolve("pool");
        try (SharedFile left = SharedFile.createFile(path, 4096);
                SharedFile right = SharedFile.openFile(path)) {
            long beyondTheEnd = 1L << 50;

            assertThat(left.tryLock(beyondTheEnd)).isTrue();
            assertThat(right.tryLock(beyondTheEnd)).isFalse();
            assertThat(right.tryLock(beyondTheEnd + 1)).isTrue();
            assertThat(right.isLockedElsewhere(beyondTheEnd)).isTrue();
            left.unlock(beyondTheEnd);
            assertThat(right.isLockedElsewhere(beyondTheEnd)).isFalse();
            left.tryLock(beyondTheEnd);
            left.close();
            assertThat(right.tryLock(beyondTheEnd)).isTrue();
        }
    }
}
