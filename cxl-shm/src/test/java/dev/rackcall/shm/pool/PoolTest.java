package dev.rackcall.shm.pool;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static java.lang.foreign.ValueLayout.JAVA_LONG;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.rackcall.shm.OutOfArenaException;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.NamedFile;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.Usage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PoolTest {
    private static final long BYTES = 1 << 20;

    @TempDir
    private Path directory;

    private Path path;

    @BeforeEach
    void name() {
        path = directory.resolve("pool");
    }

    private static void assertRefused(ThrowingCallable action, String... parts) {
        assertThatThrownBy(action).isInstanceOf(PoolException.class).hasMessageContainingAll(parts);
    }

    // ---- sharing

    @Test
    void shouldShareAMemfdWithTheProcessThatGetsItsDescriptor() {
        try (Pool mine = Pool.memfd("test", BYTES)) {
            Pool theirs = Pool.join(copyOf(mine));
            Scope scope = theirs.arena().newScope();
            long ref = scope.allocate(8);
            theirs.arena().memory().set(JAVA_LONG, Ref.offset(ref), 42);

            assertThat(mine.arena().memory().get(JAVA_LONG, Ref.offset(ref))).isEqualTo(42);
            assertThat(theirs.arena().id()).isEqualTo(mine.arena().id());
            assertThat(theirs.instanceId()).isEqualTo(mine.instanceId());
            assertThat(theirs.arena().participant()).isNotEqualTo(mine.arena().participant());
            assertThat(mine.others()).isEqualTo(1);
            assertThat(mine.reclaimDead()).isZero();
            theirs.close();
            theirs.close();
            assertThat(mine.others()).isZero();
            assertThat(mine.arena().usedBytes()).isZero();
        }
    }

    /** As if it had been received. */
    private static SharedFile copyOf(Pool pool) {
        return NamedFile.reopen(pool.file());
    }

    @Test
    void shouldShareANamedFileAndRemoveItWithItsLastUser() {
        Pool first = Pool.file(path, BYTES);
        assertThat(path).exists();
        assertThat(first.arena().reservedBytes()).isEqualTo(BYTES - 4096);
        try (Pool second = Pool.open(path)) {
            assertThat(second.instanceId()).isEqualTo(first.instanceId());
            first.close();
            assertThat(path).exists();
            assertThat(second.others()).isZero();
        }
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void shouldNotRemoveWhatTookItsName() throws IOException {
        Pool pool = Pool.file(path, BYTES);
        Files.delete(path);
        Files.writeString(path, "mine");
        pool.close();
        assertThat(path).hasContent("mine");
    }

    // ---- death

    @Test
    void shouldFreeWhatAKilledProcessHad() throws Exception {
        try (Pool pool = Pool.file(path, BYTES);
                Scope kept = pool.arena().newScope()) {
            try (ChildJvm other = PoolUser.start("open", path)) {
                assertThat(pool.others()).isEqualTo(1);
                assertThat(pool.reclaimDead()).isZero();
                assertThat(pool.arena().usedBytes()).isGreaterThan(50_000);
                other.kill();
            }
            assertThat(pool.others()).isZero();
            assertThat(pool.reclaimDead()).isEqualTo(1);
            assertThat(pool.arena().usedBytes()).isEqualTo(kept.bytesHeld());
        }
    }

    @Test
    void shouldEmptyAPoolWhoseUsersAreAllDead() throws Exception {
        PoolUser.start("file", path).kill();
        long before;
        try (ChildJvm user = PoolUser.start("open", path);
                Pool pool = Pool.open(path)) {
            before = pool.instanceId();
            assertThat(pool.others()).isEqualTo(1);
            // Only its own is left: the first process that joined has freed the creator's.
            assertThat(pool.arena().usedBytes()).isBetween(50_000L, 60_000L);
            user.kill();
            Files.createLink(directory.resolve("kept"), path);
        }
        Files.move(directory.resolve("kept"), path);
        try (Pool pool = Pool.open(path)) {
            assertThat(pool.instanceId()).isNotEqualTo(before);
            assertThat(pool.arena().usedBytes()).isZero();
        }
    }

    @Test
    void shouldReplaceAPoolWhoseUsersAreAllDead() throws Exception {
        ChildJvm user = PoolUser.start("file", path);
        assertRefused(() -> Pool.file(path, BYTES), path.toString(), "in use by 1", "Pool.open");
        user.kill();
        try (Pool pool = Pool.file(path, 2 * BYTES)) {
            assertThat(pool.bytes()).isEqualTo(2 * BYTES);
            assertThat(pool.arena().usedBytes()).isZero();
        }
        assertThat(directory).isEmptyDirectory();
    }

    // ---- bad input

    @Test
    void shouldRefuseAPathThatLeadsToNoPool() throws IOException {
        assertRefused(() -> Pool.open(path), path.toString(), "ENOENT", "create it first");
        assertRefused(() -> Pool.file(directory.resolve("no/pool"), BYTES), "no/pool", "make it first");
        Files.write(path, new byte[1 << 16]);
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
        assertRefused(() -> Pool.open(path), path.toString(), "no pool header", "remove it");
        assertRefused(() -> Pool.file(path, BYTES), path.toString(), "no pool header");
        assertThat(path).hasSize(1 << 16);
        Files.write(path, new byte[4096]);
        assertRefused(() -> Pool.open(path), path.toString(), "4096 bytes are too few");
        Files.createSymbolicLink(directory.resolve("link"), path);
        assertRefused(() -> Pool.open(directory.resolve("link")), "symbolic link");
        assertRefused(() -> Pool.dax(path), path.toString(), "no device-dax device");
    }

    @Test
    void shouldRefuseAFileThatOthersCanReach() throws IOException {
        try (Pool pool = Pool.file(path, BYTES)) {
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-rw----"));
            assertRefused(() -> Pool.open(path), path.toString(), "mode 0660", "chmod 600");
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rw-------"));
            assertThat(pool.others()).isZero();
        }
    }

    @Test
    void shouldRefuseAnotherUsersFile() throws IOException {
        assumeThat(System.getProperty("user.name"))
                .as("only root can give a file away")
                .isEqualTo("root");
        try (Pool pool = Pool.file(path, BYTES)) {
            Files.setAttribute(path, "unix:uid", 65_534);
            assertRefused(() -> Pool.open(path), path.toString(), "belongs to user 65534", "as one user");
            assertThat(pool.others()).isZero();
        }
    }

    @Test
    void shouldRefuseADamagedOrOlderFile() {
        try (Pool pool = Pool.file(path, BYTES);
                Mapping raw = pool.file().map()) {
            raw.memory().set(JAVA_INT, 8, 0);
            assertRefused(() -> Pool.open(path), path.toString(), "layout version is 0", "release has 2");
            raw.memory().set(JAVA_INT, 8, PoolLayout.VERSION);
            raw.memory().set(JAVA_LONG, 16, BYTES / 2);
            assertRefused(() -> Pool.open(path), path.toString(), "damaged", "" + BYTES / 2, "" + BYTES);
            raw.memory().set(JAVA_LONG, 16, BYTES);
            raw.memory().set(JAVA_LONG, PoolLayout.ARENA, 0);
            assertRefused(() -> Pool.open(path), path.toString(), "damaged", "no arena header", "remove it");
            raw.memory().set(JAVA_LONG, 0, 0);
            assertRefused(() -> Pool.open(path), path.toString(), "no pool header");
            assertThat(pool.others()).isZero();
        }
    }

    @Test
    void shouldRefuseSizesThatCannotBe() {
        assertRefused(() -> Pool.memfd("test", 0), "cannot have 0 bytes", "1 TiB");
        assertRefused(() -> Pool.memfd("test", 2L << 40), "cannot have");
        assertRefused(() -> Pool.file(path, -1), "cannot have -1 bytes");
        // More than any host that runs this test has.
        assertRefused(() -> Pool.file(path, (1L << 40) - 4096), path.toString(), "cannot reserve", "ask for less");
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void shouldSayWhatIsFullAndWhatToDo() {
        try (Pool pool = Pool.file(path, BYTES)) {
            assertThrown(
                    OutOfArenaException.class,
                    () -> pool.arena().newScope(2 * BYTES),
                    "arena " + pool.arena().id(),
                    "is full",
                    "close scopes, or create the pool with more bytes (PoolOptions)");
        }
    }

    @Test
    void shouldRefuseAReceivedFileThatIsNoSealedPool() {
        assertRefused(() -> Pool.join(SharedFile.memfd("other", BYTES)), "no pool header");
        SharedFile unsealed = NamedFile.create(path, BYTES);
        assertRefused(() -> Pool.join(unsealed), "not sealed", "send a Pool.memfd");
    }

    // ---- devices, replaced by a file

    @Test
    void shouldWaitForTheProcessThatMakesThePool() throws Exception {
        SharedFile device = SharedFile.createFile(path, BYTES);
        try (Mapping mapping = device.map()) {
            Participants maker = new Participants(device, mapping.memory());
            assertThat(maker.closeGate()).isTrue();
            FutureTask<Pool> opening = new FutureTask<>(() -> PoolMaker.ofOneHost(SharedFile.openFile(path)));
            Thread opener = Thread.ofPlatform().start(opening);
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(10);
            while (opener.getState() != Thread.State.TIMED_WAITING && !opening.isDone() && System.nanoTime() < end) {
                Thread.onSpinWait();
            }
            try (Pool mine = PoolMaker.create(device, BYTES, PoolOptions.create())) {
                maker.openGate();
                try (Pool theirs = opening.get(100, TimeUnit.SECONDS)) {
                    assertThat(theirs.arena().id()).isEqualTo(mine.arena().id());
                    assertThat(theirs.arena().participant())
                            .isNotEqualTo(mine.arena().participant());
                }
            }
        }
    }

    @Test
    void shouldBeMadeAnewWhereAMakerWasKilled() {
        SharedFile.createFile(path, BYTES).close();
        PoolMaker.ofOneHost(SharedFile.openFile(path)).close();
        SharedFile device = SharedFile.createFile(path, BYTES);
        try (Mapping mapping = device.map()) {
            // A version, a number of participants, the arena's header, and no magic.
            mapping.memory().set(JAVA_INT, 8, PoolLayout.VERSION);
            mapping.memory().set(JAVA_INT, 32, 1);
            mapping.memory().set(JAVA_LONG, 4096, 42);
        }
        try (Pool pool = PoolMaker.ofOneHost(device)) {
            assertThat(pool.arena().newScope().allocate(8)).isNotZero();
        }
    }

    // ---- limits

    @Test
    void shouldHoldUpToWhatRefsReach() {
        try (Pool pool = Pool.memfd("largest", 1L << 40)) {
            assertThat(pool.bytes()).isEqualTo(1L << 40);
            assertThat(pool.arena().newScope().allocate(8)).isNotZero();
        }
        assertRefused(() -> Pool.memfd("larger", (1L << 40) + 1), "1 TiB");
        assertRefused(() -> Pool.join(SharedFile.memfd("received", (1L << 40) + 4096)), "Refs reach 1 TiB");
    }

    @Test
    void shouldKeepNoDescriptorOfAPoolThatItRefuses() throws IOException {
        Pool.file(path, BYTES).close();
        for (String mode : List.of("rw-r--r--", "rw-------")) {
            Files.write(path, new byte[(int) BYTES]); // not a pool
            Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(mode));
            assertRefused(() -> Pool.open(path), path.toString());
        }
        assertThat(Usage.descriptors(path.toString())).isZero();
    }

    /** A change of the layout needs a change of the page that describes it. */
    @Test
    void shouldHaveTheVersionThatTheLayoutPageNames() throws IOException {
        assertThat(Files.readString(Path.of("..", "docs", "internals", "arena-layout.md")))
                .containsPattern("\n## Pool \\((?:(?!\n## )[^|]|\\|(?! layout version))*\\| layout version \\("
                        + PoolLayout.VERSION + "\\) \\|");
    }
}
