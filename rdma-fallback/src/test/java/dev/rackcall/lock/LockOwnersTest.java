package dev.rackcall.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.shm.os.OsException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Open files stand for processes, as the kernel sees it; {@link LockKeeperTest} kills real ones. */
class LockOwnersTest {
    @TempDir
    private Path directory;

    private Path file() throws IOException {
        return Files.writeString(directory.resolve("table"), "table");
    }

    @Test
    void shouldSayWhichOwnersHaveEnded() throws IOException {
        Path file = file();
        try (LockOwners keeper = LockOwners.of(file)) {
            long first;
            long second;
            try (LockOwners process = LockOwners.of(file)) {
                first = process.claim();
                second = process.claim();
                assertThat(first).isPositive().isNotEqualTo(second);
                assertThat(keeper.isDead(first)).isFalse();
                assertThat(process.isDead(first)).as("as it sees itself").isFalse();
                process.release(first);
                assertThat(keeper.isDead(first)).isTrue();
                assertThat(process.isDead(first)).isTrue();
                assertThat(keeper.isDead(second)).isFalse();
                assertThatThrownBy(() -> process.release(first)).isInstanceOf(IllegalArgumentException.class);
                assertThatThrownBy(() -> keeper.release(second)).hasMessageContaining("not claimed here");
            }
            assertThat(keeper.isDead(second)).isTrue();
        }
        assertThat(Files.readString(file)).isEqualTo("table");
    }

    @Test
    void shouldNotCallNumbersDeadThatCannotBeOwners() throws IOException {
        try (LockOwners owners = LockOwners.of(file())) {
            assertThat(owners.isDead(0)).isFalse();
            assertThat(owners.isDead(LockLayout.NOBODY)).isFalse();
            assertThat(owners.isDead(Long.MAX_VALUE)).isFalse();
        }
    }

    @Test
    void shouldNeedAFile() {
        assertThatThrownBy(() -> LockOwners.of(directory.resolve("none"))).isInstanceOf(OsException.class);
    }
}
