package dev.rackcall.shm.os;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class AffinityTest {
    @Test
    void shouldPinOnlyTheCallingThread() throws Exception {
        int[] before = Affinity.available();
        int cpu = before[before.length - 1];
        try (var executor = Executors.newSingleThreadExecutor()) {
            int[] inside = CompletableFuture.supplyAsync(
                            () -> {
                                Affinity.pin(cpu);
                                return Affinity.available();
                            },
                            executor)
                    .get(100, TimeUnit.SECONDS);
            assertThat(inside).containsExactly(cpu);
        }
        assertThat(Affinity.available()).isEqualTo(before);
    }

    @Test
    void shouldNameTheProcessorsThatThereAre() throws Exception {
        assertThrown(OsException.class, () -> Affinity.pin(8000), "available: [");
        assertThatThrownBy(() -> Affinity.pin(-1)).isInstanceOf(IllegalArgumentException.class);
        try (var executor = Executors.newVirtualThreadPerTaskExecutor()) {
            assertThat(executor.submit(() -> {
                                assertThatThrownBy(() -> Affinity.pin(0)).hasMessageContaining("virtual thread");
                                return true;
                            })
                            .get(100, TimeUnit.SECONDS))
                    .isTrue();
        }
    }

    @Test
    void shouldTellTheProcessorsOfTheProcessFromThoseOfAPinnedThread() throws Exception {
        try (var executor = Executors.newSingleThreadExecutor()) {
            int[] ofProcess = CompletableFuture.supplyAsync(
                            () -> {
                                Affinity.pin(Processor.current());
                                return Affinity.ofProcess();
                            },
                            executor)
                    .get(100, TimeUnit.SECONDS);
            assertThat(ofProcess).isEqualTo(Affinity.ofProcess());
        }
        assertThat(Affinity.ofProcess()).contains(Affinity.available());
    }

    @Test
    void shouldMoveAsideAndThenBeFreeAgain() {
        int[] before = Affinity.available();
        assertThat(Affinity.moveAside()).isEqualTo(before.length > 1);
        assertThat(Affinity.available()).isEqualTo(before);
    }

    @Test
    void shouldStayWhereItIsPinned() throws Exception {
        try (var executor = Executors.newSingleThreadExecutor()) {
            boolean moved = CompletableFuture.supplyAsync(
                            () -> {
                                Affinity.pin(Processor.current());
                                return Affinity.moveAside();
                            },
                            executor)
                    .get(100, TimeUnit.SECONDS);
            assertThat(moved).isFalse();
        }
    }

    @Test
    void shouldNotLeaveAHelperWhereItsPinnedStarterIs() throws InterruptedException {
        int[] all = Affinity.available();
        AtomicReference<int[]> inherited = new AtomicReference<>();
        AtomicReference<int[]> freed = new AtomicReference<>();
        Thread starter = new Thread(() -> {
            Affinity.pin(all[0]);
            Thread helper = new Thread(() -> {
                inherited.set(Affinity.available());
                Affinity.asProcess();
                freed.set(Affinity.available());
            });
            helper.start();
            try {
                helper.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        starter.start();
        starter.join();
        assertThat(inherited.get()).containsExactly(all[0]);
        assertThat(freed.get()).containsExactly(all);
    }
}
