package dev.rackcall.sandbox;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.shm.os.Affinity;
import dev.rackcall.shm.waiting.Processors;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;

/** How a sealed process and its holder wait for each other and wake each other; here they are two threads. */
class HolderTurnsTest {
    private static final int ROUNDS = 2_000;
    /** A side that is not woken sleeps on after the test has failed. */
    private static final long FOR_EVER = Duration.ofHours(1).toNanos();

    /** Longer than a side spins. */
    private static final long PAUSE_NANOS = Duration.ofNanos(200_000).toNanos();

    private static final long BYTES = 64;

    private final Arena memory = Arena.ofAuto();
    private final MemorySegment requests = memory.allocate(BYTES, BYTES);
    private final MemorySegment answers = memory.allocate(BYTES, BYTES);
    private final HolderTurns process = new HolderTurns(requests, answers);
    private final HolderTurns holder = new HolderTurns(answers, requests);

    @Test
    void shouldWakeWhoeverSleeps() {
        Concurrently.run(2, side -> {
            for (int number = 1; number <= ROUNDS; number++) {
                if (side == 0) {
                    pause(number, 3);
                    process.publish(number);
                    awaitNumber(process, answers, number);
                } else {
                    awaitNumber(holder, requests, number);
                    pause(number, 5);
                    holder.publish(number);
                }
            }
        });
        assertThat(HolderLayout.number(answers)).isEqualTo(ROUNDS);
    }

    /** Lets the other side fall asleep now and then. */
    private static void pause(int number, int every) {
        if (number % every == 0) {
            LockSupport.parkNanos(PAUSE_NANOS);
        }
    }

    /** A wait may end early without a reason. */
    private static void awaitNumber(HolderTurns side, MemorySegment peer, int number) {
        boolean met = false;
        while (!met) {
            met = side.await(number - 1, FOR_EVER);
        }
        assertThat(HolderLayout.number(peer)).isEqualTo(number);
    }

    @Test
    void shouldWakeOnlyASideThatSleeps() {
        assertThat(process.publish(1)).as("the holder does not wait yet").isFalse();
        CompletableFuture<Boolean> waits = Concurrently.start(() -> holder.await(1, FOR_EVER));
        Await.until("the holder sleeps", () -> answers.get(ValueLayout.JAVA_INT, HolderLayout.ASLEEP) == 1);
        assertThat(process.publish(2)).as("the holder sleeps").isTrue();
        assertThat(Concurrently.get(waits)).isTrue();
        assertThat(process.publish(3)).as("the holder has woken up").isFalse();
        assertThat(holder.await(2, FOR_EVER)).as("the number is there").isTrue();
    }

    @Test
    void shouldReportAWaitInVain() {
        assertThat(process.await(0, 1)).isFalse();
        assertThat(holder.publish(1)).as("the process waits no longer").isFalse();
    }

    @Test
    void shouldFollowTheProcessWhereProcessorsAreFew() {
        Concurrently.run(1, thread -> {
            int[] all = Affinity.ofProcess();
            int first = all[0];
            int last = all[all.length - 1];
            Affinity.pin(first);
            HolderLayout.processor(requests, last);
            holder.follow();
            assertThat(Affinity.available())
                    .as("a processor each is enough from three processors on")
                    .containsExactly(Processors.count() < 3 ? last : first);
        });
    }

    @Test
    void shouldStayIfTheProcessClaimsAProcessorThatIsNotThere() {
        for (int lie : new int[] {-1, 8_000, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            HolderLayout.processor(requests, lie);
            holder.follow();
        }
        assertThat(Affinity.available()).isNotEmpty();
    }
}
