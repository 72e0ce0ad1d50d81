package dev.rackcall.shm.os;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static java.lang.foreign.ValueLayout.JAVA_INT;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.shm.os.file.Mapping;
import dev.rackcall.shm.os.file.SharedFile;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class FutexTest {
    @Test
    void shouldSleepUntilWokenThroughAnotherMapping() throws Exception {
        try (SharedFile file = SharedFile.memfd("futex", 4096);
                Mapping left = file.map();
                Mapping right = file.map()) {
            file.reserve(0, 4096);
            CompletableFuture<Boolean> sleeper =
                    CompletableFuture.supplyAsync(() -> Futex.await(left.memory(), 8, 0, TimeUnit.MINUTES.toNanos(5)));
            long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(100);
            while (Futex.wake(right.memory(), 8, 1) == 0) {
                assertThat(System.nanoTime()).isLessThan(deadline);
                Thread.onSpinWait();
            }
            assertThat(sleeper.get(100, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void shouldReturnAtOnceWhenTheWordDiffersAndAfterTheTime() {
        try (SharedFile file = SharedFile.memfd("futex", 4096);
                Mapping mapping = file.map()) {
            file.reserve(0, 4096);
            mapping.memory().set(JAVA_INT, 0, 1);

            assertThat(Futex.await(mapping.memory(), 0, 0, TimeUnit.MINUTES.toNanos(5)))
                    .isTrue();
            assertThat(Futex.await(mapping.memory(), 0, 1, 1_000_000)).isFalse();
            assertThat(Futex.wake(mapping.memory(), 0, 1)).isZero();
            assertThrown(IllegalArgumentException.class, () -> Futex.await(mapping.memory(), 0, 1, -1));
            assertThrown(IndexOutOfBoundsException.class, () -> Futex.await(mapping.memory(), 4096, 1, 1));
            assertThrown(IllegalArgumentException.class, () -> Futex.await(mapping.memory(), 2, 1, 1));
        }
    }

    @Test
    void shouldNotKeepAMappingFromBeingClosed() throws Exception {
        try (SharedFile file = SharedFile.memfd("futex", 4096)) {
            file.reserve(0, 4096);
            Mapping mapping = file.map();
            CompletableFuture<Boolean> sleeper = CompletableFuture.supplyAsync(
                    () -> Futex.await(mapping.memory(), 0, 0, TimeUnit.MILLISECONDS.toNanos(200)));
            mapping.close();
            assertThat(sleeper.handle((result, failure) -> failure == null
                                    ? "slept"
                                    : failure.getCause().getClass())
                            .get(100, TimeUnit.SECONDS))
                    .isIn("slept", IllegalStateException.class);
        }
    }
}
