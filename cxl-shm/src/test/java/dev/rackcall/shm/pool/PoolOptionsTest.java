package dev.rackcall.shm.pool;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.Numa;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.shm.pool.PoolOptions.Wish;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Depending on the options, a pool does without what the host lacks, or fails with a clear error. */
class PoolOptionsTest {
    private static final long BYTES = 8 << 20;
    private static final Path FREE_HUGE_PAGES = Path.of("/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages");

    @TempDir
    private Path directory;

    private static void assertUsable(Pool pool) {
        try (Scope scope = pool.arena().newScope()) {
            long ref = scope.allocate(BYTES / 4);
            pool.arena().memory().set(JAVA_LONG, Ref.offset(ref) + BYTES / 4 - 8, 42);
        }
    }

    private static long freeHugePages() throws IOException {
        return Files.exists(FREE_HUGE_PAGES)
                ? Long.parseLong(Files.readString(FREE_HUGE_PAGES).strip())
                : 0;
    }

    // ---- huge pages

    @Test
    void shouldDoWithoutPreferredHugePages() throws IOException {
        boolean present = freeHugePages() >= BYTES >> 21;
        try (Pool pool = Pool.memfd("test", BYTES, PoolOptions.create().hugePages(Wish.PREFER))) {
            assertThat(pool.file().kind()).isEqualTo(present ? SharedFile.Kind.HUGE_MEMFD : SharedFile.Kind.MEMFD);
            assertUsable(pool);
        }
    }

    @Test
    void shouldSayThatRequiredHugePagesAreMissing() throws IOException {
        assumeThat(freeHugePages()).as("free huge pages of this host").isZero();
        assertThrown(
                PoolException.class,
                () -> Pool.memfd("test", BYTES, PoolOptions.create().hugePages(Wish.REQUIRE)),
                "pool test",
                "huge pages",
                "vm.nr_hugepages",
                "only prefer");
    }

    @Test
    void shouldConsistOfHugePagesWhereTheHostHasThem() throws IOException {
        assumeThat(freeHugePages()).as("free huge pages of this host").isGreaterThanOrEqualTo(BYTES >> 21);
        try (Pool pool = Pool.memfd("test", BYTES, PoolOptions.create().hugePages(Wish.REQUIRE))) {
            assertThat(pool.file().pageBytes()).isEqualTo(2 << 20);
            assertUsable(pool);
        }
    }

    @Test
    void shouldTakeANamedFileAsItsFileSystemHasIt() {
        Path path = directory.resolve("pool");
        assertThrown(
                PoolException.class,
                () -> Pool.file(path, BYTES, PoolOptions.create().hugePages(Wish.REQUIRE)),
                path.toString(),
                "4096 bytes",
                "hugetlbfs",
                "only prefer");
        assertThat(directory).isEmptyDirectory();
        try (Pool pool = Pool.file(path, BYTES, PoolOptions.create().hugePages(Wish.PREFER))) {
            assertUsable(pool);
        }
    }

    @Test
    void shouldUseAHugetlbfs() throws IOException {
        Optional<Path> mount = Files.readAllLines(Path.of("/proc/mounts")).stream()
                .map(line -> line.split(" "))
                .filter(fields -> fields[2].equals("hugetlbfs"))
                .map(fields -> Path.of(fields[1]))
                .filter(Files::isWritable)
                .findFirst();
        assumeThat(mount).as("a hugetlbfs of this host").isPresent();
        assumeThat(freeHugePages()).as("free huge pages of this host").isGreaterThanOrEqualTo(BYTES >> 21);
        Path path =
                mount.get().resolve("rackcall-test-" + ProcessHandle.current().pid());
        try (Pool pool = Pool.file(path, BYTES, PoolOptions.create().hugePages(Wish.REQUIRE))) {
            assertUsable(pool);
        }
        assertThat(path).doesNotExist();
    }

    // ---- memory nodes

    @Test
    void shouldPutItsMemoryOnANode() {
        assumeThat(Numa.available()).as("libnuma on this host").isPresent();
        for (Wish wish : Wish.values()) {
            try (Pool pool = Pool.memfd("test", BYTES, PoolOptions.create().numaNode(0, wish));
                    Pool named = Pool.file(
                            directory.resolve("pool"),
                            BYTES,
                            PoolOptions.create().numaNode(0, wish))) {
                assertUsable(pool);
                assertUsable(named);
            }
        }
    }

    @Test
    void shouldRefuseOrDoWithoutANodeThatIsNotThere() {
        assumeThat(Numa.available()).as("libnuma on this host").isPresent();
        int missing = Numa.available().get().nodes();
        assertThrown(
                PoolException.class,
                () -> Pool.memfd("test", BYTES, PoolOptions.create().numaNode(missing, Wish.REQUIRE)),
                "memory node " + missing,
                "nodes 0 to " + (missing - 1),
                "only prefer");
        try (Pool pool = Pool.memfd("test", BYTES, PoolOptions.create().numaNode(missing, Wish.PREFER))) {
            assertUsable(pool);
        }
    }

    @Test
    void shouldSayThatLibnumaIsMissing() {
        try (SharedFile file = SharedFile.memfd("test", BYTES);
                Mapping mapping = file.map()) {
            assertThrown(
                    PoolException.class,
                    () -> PoolOptions.create()
                            .numaNode(0, Wish.REQUIRE)
                            .place(mapping.memory(), file.kind(), Optional.empty()),
                    "memory node 0",
                    "libnuma.so.1",
                    "install");
            assertThatCode(() -> PoolOptions.create()
                            .numaNode(0, Wish.PREFER)
                            .place(mapping.memory(), file.kind(), Optional.empty()))
                    .doesNotThrowAnyException();
        }
    }

    @Test
    void shouldSayWhatWasWished() {
        assertThat(PoolOptions.create()).hasToString("pages small, node any");
        assertThat(PoolOptions.create().hugePages(Wish.PREFER).numaNode(3, Wish.REQUIRE))
                .hasToString("pages huge (PREFER), node 3 (REQUIRE)");
    }
}
