package dev.rackcall.shm.os;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StarvationTest {
    private static final long PERIOD = TimeUnit.MILLISECONDS.toNanos(20);

    @TempDir
    private Path folder;

    private long now = System.nanoTime();
    /** How long the thread has run since it began. */
    private long ranInAll;

    @Test
    void shouldTellAThreadThatGetsNoProcessorFromOnesThatComputeOrWait() throws IOException {
        Starvation starvation = Starvation.of(folder);
        kernelSays('R', 0);
        next(starvation);

        kernelSays('R', PERIOD / 10);
        assertThat(next(starvation)).as("got a tenth").isTrue();
        kernelSays('R', PERIOD);
        assertThat(next(starvation)).as("computed").isFalse();
        kernelSays('S', PERIOD);
        assertThat(next(starvation)).as("waited").isFalse();
        kernelSays('R', 0);
        assertThat(next(starvation)).as("got none").isTrue();
    }

    @Test
    void shouldSayNoWhereTheKernelDoesNotSay() throws IOException {
        assertThat(next(Starvation.of(folder))).isFalse();
        Files.writeString(folder.resolve("schedstat"), "\n");
        assertThat(next(Starvation.of(folder))).isFalse();
    }

    @Test
    void shouldFindTheCallingThreadsFiles() throws InterruptedException {
        AtomicReference<Starvation> starvation = new AtomicReference<>();
        CountDownLatch end = new CountDownLatch(1);
        Thread thread = Thread.ofPlatform().daemon().name("R) R starving").start(() -> {
            starvation.set(Starvation.ofCurrentThread());
            long begin = System.nanoTime();
            while (System.nanoTime() - begin < PERIOD) {
                Thread.onSpinWait();
            }
            try {
                end.await();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        });
        Await.until("the thread waits", () -> thread.getState() == Thread.State.WAITING);
        Await.until("so does it in the kernel", () -> !starvation.get().lasts(System.nanoTime()));
        end.countDown();
        thread.join();
    }

    private boolean next(Starvation starvation) {
        now += PERIOD;
        return starvation.lasts(now);
    }

    private void kernelSays(char state, long ran) throws IOException {
        Files.writeString(folder.resolve("stat"), "4711 (odd R) name) " + state + " 1 2 3\n");
        ranInAll += ran;
        Files.writeString(folder.resolve("schedstat"), ranInAll + " 17 42\n");
    }
}
