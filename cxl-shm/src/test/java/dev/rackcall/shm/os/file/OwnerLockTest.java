package dev.rackcall.shm.os.file;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.shm.os.OsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OwnerLockTest {
    @TempDir
    private Path directory;

    @Test
    void shouldHaveOneOwnerAndLeaveNothingBehind() throws IOException {
        Path path = directory.resolve("lock");
        assertThat(OwnerLock.isHeld(path)).isFalse();
        try (OwnerLock lock = OwnerLock.tryAcquire(path, "instance 42").orElseThrow()) {
            assertThat(OwnerLock.isHeld(path)).isTrue();
            assertThat(OwnerLock.tryAcquire(path)).isEmpty();
            assertThat(Files.readString(lock.path()))
                    .isEqualTo("pid " + ProcessHandle.current().pid() + " instance 42\n");
        }
        assertThat(path).doesNotExist();
        assertThat(OwnerLock.isHeld(path)).isFalse();
    }

    @Test
    void shouldTakeOverTheFileOfADeadOwner() throws IOException {
        Path path = directory.resolve("lock");
        Files.writeString(path, "pid 1 and a text longer than ours will ever be, left by a killed process\n");
        try (OwnerLock lock = OwnerLock.tryAcquire(path).orElseThrow()) {
            assertThat(Files.readString(lock.path()))
                    .isEqualTo("pid " + ProcessHandle.current().pid() + "\n");
        }
    }

    /** A process that removes what the dead left looks at all times, also while the owner only just begins. */
    @Test
    void shouldNeverBeFoundWithoutItsOwner() throws Exception {
        Path path = directory.resolve("lock");
        AtomicBoolean over = new AtomicBoolean();
        try (var executor = Executors.newFixedThreadPool(2)) {
            Callable<Integer> cleaner = () -> {
                int found = 0;
                while (!over.get()) {
                    Optional<OwnerLock> left = OwnerLock.tryTakeOver(path);
                    found += left.isPresent() ? 1 : 0;
                    left.ifPresent(OwnerLock::close);
                }
                return found;
            };
            List<Future<Integer>> cleaners = List.of(executor.submit(cleaner), executor.submit(cleaner));
            try {
                for (int i = 0; i < 2_000; i++) {
                    try (OwnerLock lock = OwnerLock.tryAcquire(path).orElseThrow()) {
                        assertThat(lock.isAtPath()).isTrue();
                    }
                }
            } finally {
                over.set(true);
            }
            for (Future<Integer> each : cleaners) {
                assertThat(each.get(100, TimeUnit.SECONDS)).isZero();
            }
        }
        assertThat(path).doesNotExist();
    }

    @Test
    void shouldMakeTheFileWhereThereAreNoNamelessFiles() throws IOException {
        Path path = directory.resolve("lock");
        try (OwnerLock lock = OwnerLock.makeUnlocked(path, "instance 42").orElseThrow()) {
            assertThat(lock.isAtPath()).isTrue();
            assertThat(OwnerLock.isHeld(path)).isTrue();
            assertThat(OwnerLock.makeUnlocked(path, "")).isEmpty();
            assertThat(Files.readString(path))
                    .isEqualTo("pid " + ProcessHandle.current().pid() + " instance 42\n");
        }
        assertThat(path).doesNotExist();
    }

    @Test
    void shouldNotMakeAFileToTakeItOver() {
        Path path = directory.resolve("lock");
        assertThat(OwnerLock.tryTakeOver(path)).isEmpty();
        assertThat(path).doesNotExist();
    }

    @Test
    void shouldNeverHaveTwoOwnersWhileOwnersComeAndGo() throws Exception {
        Path path = directory.resolve("lock");
        AtomicInteger owners = new AtomicInteger();
        AtomicInteger acquired = new AtomicInteger();
        AtomicInteger nameless = new AtomicInteger();
        Callable<Integer> contender = () -> {
            int most = 0;
            for (int i = 0; i < 500; i++) {
                Optional<OwnerLock> lock = OwnerLock.tryAcquire(path);
                if (lock.isPresent()) {
                    most = Math.max(most, owners.incrementAndGet());
                    acquired.incrementAndGet();
                    // A file that its former owner has just removed can still be locked, which proves nothing.
                    nameless.addAndGet(OwnerLock.isHeld(path) ? 0 : 1);
                    owners.decrementAndGet();
                    lock.get().close();
                }
            }
            return most;
        };
        try (var executor = Executors.newFixedThreadPool(4)) {
            List<Future<Integer>> results = new ArrayList<>();
            for (int i = 0; i < 4; i++) {
                results.add(executor.submit(contender));
            }
            for (Future<Integer> result : results) {
                assertThat(result.get(100, TimeUnit.SECONDS)).isLessThanOrEqualTo(1);
            }
        }
        assertThat(acquired.get()).isPositive();
        assertThat(nameless).hasValue(0);
    }

    @Test
    void shouldSayWhyTheFileCannotBeMade() {
        assertThrown(
                OsException.class,
                () -> OwnerLock.tryAcquire(directory.resolve("no").resolve("lock")),
                "ENOENT");
    }
}
