package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class StreamTasksTest {
    private static final int THREADS = 4;
    private static final int TASKS = 20_000;

    private final List<String> ran = new ArrayList<>();

    @Test
    void shouldRunATaskOfATaskAfterIt() {
        StreamTasks tasks = new StreamTasks(failure -> ran.add("failed"));
        tasks.execute(() -> {
            tasks.execute(() -> ran.add("second"));
            tasks.execute(() -> ran.add("third"));
            ran.add("first");
        });
        tasks.execute(() -> ran.add("fourth"));
        assertThat(ran).containsExactly("first", "second", "third", "fourth");
    }

    @Test
    void shouldReportAFailureAndGoOn() {
        StreamTasks tasks = new StreamTasks(failure -> ran.add(failure.getMessage()));
        tasks.execute(() -> {
            tasks.execute(() -> ran.add("next"));
            throw new IllegalStateException("broken");
        });
        assertThat(ran).containsExactly("broken", "next");
    }

    @Test
    void shouldRunOneTaskAtATimeInTheOrderOfEachThread() throws InterruptedException {
        StreamTasks tasks = new StreamTasks(failure -> ran.add(failure.toString()));
        int[] last = new int[THREADS];
        AtomicInteger inside = new AtomicInteger();
        CountDownLatch begin = new CountDownLatch(THREADS);
        List<Thread> threads = IntStream.range(0, THREADS)
                .mapToObj(thread -> Thread.ofPlatform().start(() -> {
                    begin.countDown();
                    for (int i = 1; i <= TASKS; i++) {
                        int number = i;
                        tasks.execute(() -> {
                            if (inside.incrementAndGet() != 1 || last[thread] != number - 1) {
                                throw new IllegalStateException("task " + number + " after " + last[thread]);
                            }
                            last[thread] = number;
                            inside.decrementAndGet();
                        });
                    }
                }))
                .toList();
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(ran).isEmpty();
        assertThat(last).containsOnly(TASKS);
    }
}
