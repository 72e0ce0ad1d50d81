package dev.rackcall.rpc.shm.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.spi.CallThread;
import dev.rackcall.shm.os.Starvation;
import dev.rackcall.testkit.Await;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One thread has the duty to poll, never two and never none, whenever handlers get stuck and come back. */
class ReliefTest {
    private static final int RELIEFS = 400;
    private static final long BOUND_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final int LONGEST_SPINS = 4_000;
    private static final int CHECKS_STARVED = 5;

    private final Relief.Served connection = new Relief.Served() {
        @Override
        public String handling() {
            return "/test/relief";
        }

        @Override
        public void handlerIsStuck() {}

        @Override
        public void handlerIsBack() {}
    };

    @Test
    void shouldRelieveAStuckThreadThoughTheOneBeforeItComesBackMeanwhile() throws InterruptedException {
        BlockingQueue<CountDownLatch> handlers = new LinkedBlockingQueue<>();
        AtomicInteger returned = new AtomicInteger();
        AtomicReference<Relief<Relief.Served>> relief = new AtomicReference<>();
        relief.set(new Relief<>(
                () -> {
                    CountDownLatch end = new CountDownLatch(1);
                    Relief.Marks<Relief.Served> entered = relief.get().enter(connection);
                    handlers.add(end);
                    await(end);
                    if (!relief.get().leave(entered)) {
                        returned.incrementAndGet();
                    }
                },
                ReliefTest::thread,
                back -> {},
                ReliefTest::neverStarved));
        relief.get().start();
        CountDownLatch first = handlers.poll(20, TimeUnit.SECONDS);
        relief.get().relieveIfStuck();
        relief.get().relieveIfStuck();
        CountDownLatch second = handlers.poll(20, TimeUnit.SECONDS);
        first.countDown();
        Await.equal("threads that came back", 1, returned::get);

        relief.get().relieveIfStuck();
        relief.get().relieveIfStuck();

        CountDownLatch third = handlers.poll(20, TimeUnit.SECONDS);
        assertThat(third).as("the handler of a third thread on duty").isNotNull();
        second.countDown();
        Await.equal("threads that came back", 2, returned::get);
        relief.get().relieveIfStuck();
        relief.get().relieveIfStuck();
        third.countDown();
        Await.equal("threads that came back", 3, returned::get);
        handlers.poll(20, TimeUnit.SECONDS).countDown();
    }

    @Test
    void shouldNotTakeAnInterruptForTheEndOfTheThread() throws InterruptedException {
        CountDownLatch end = new CountDownLatch(1);
        Relief<Relief.Served> relief = new Relief<>(() -> await(end), "relief-test", back -> {});
        relief.start();
        Thread.currentThread().interrupt();
        boolean ended = relief.join(Duration.ofMillis(1));
        assertThat(Thread.interrupted()).as("the interrupt is kept").isTrue();
        assertThat(ended).isFalse();
        end.countDown();
        assertThat(relief.join(Duration.ofSeconds(20))).isTrue();
    }

    /** As where a container's limit of processes is reached. */
    @Test
    void shouldLeaveTheDutyWhereItIsIfNoThreadCanBeStarted() throws InterruptedException {
        BlockingQueue<CountDownLatch> handlers = new LinkedBlockingQueue<>();
        AtomicInteger kept = new AtomicInteger();
        AtomicBoolean exhausted = new AtomicBoolean(true);
        AtomicReference<Relief<Relief.Served>> relief = new AtomicReference<>();
        Runnable body = () -> {
            Relief.Marks<Relief.Served> entered;
            do {
                CountDownLatch end = new CountDownLatch(1);
                entered = relief.get().enter(connection);
                handlers.add(end);
                await(end);
            } while (relief.get().leave(entered) && kept.incrementAndGet() < 3);
        };
        relief.set(new Relief<>(
                body,
                task -> new Thread(task, "relief-test") {
                    @Override
                    public void start() {
                        if (exhausted.get() && kept.get() > 0) {
                            throw new OutOfMemoryError("unable to create native thread, as expected in this test");
                        }
                        super.start();
                    }
                },
                back -> {},
                ReliefTest::neverStarved));
        relief.get().start();
        handlers.poll(20, TimeUnit.SECONDS).countDown();
        CountDownLatch second = handlers.poll(20, TimeUnit.SECONDS);
        relief.get().relieveIfStuck();
        assertThatThrownBy(relief.get()::relieveIfStuck).isInstanceOf(OutOfMemoryError.class);
        second.countDown();
        Await.equal("turns after which the thread kept its duty", 2, kept::get);

        CountDownLatch third = handlers.poll(20, TimeUnit.SECONDS);
        exhausted.set(false);
        relief.get().relieveIfStuck();
        relief.get().relieveIfStuck();
        CountDownLatch fourth = handlers.poll(20, TimeUnit.SECONDS);
        assertThat(fourth).as("the handler of the next thread on duty").isNotNull();
        third.countDown();
        fourth.countDown();
        Await.equal("turns of the next thread", 3, kept::get);
    }

    @Test
    void shouldWaitForAHandlerThatGetsNoProcessorButNotForEver(@TempDir Path folder) throws Exception {
        Files.writeString(folder.resolve("stat"), "4711 (relief-test) R 1 2 3\n");
        Files.writeString(folder.resolve("schedstat"), "0 17 42\n");
        BlockingQueue<CountDownLatch> handlers = new LinkedBlockingQueue<>();
        AtomicReference<Relief<Relief.Served>> relief = new AtomicReference<>();
        relief.set(new Relief<>(
                () -> {
                    CountDownLatch end = new CountDownLatch(1);
                    Relief.Marks<Relief.Served> entered = relief.get().enter(connection);
                    handlers.add(end);
                    await(end);
                    relief.get().leave(entered);
                },
                ReliefTest::thread,
                back -> {},
                () -> Starvation.of(folder)));
        relief.get().start();
        CountDownLatch first = handlers.poll(20, TimeUnit.SECONDS);
        for (int check = 0; check < 1 + CHECKS_STARVED; check++) {
            relief.get().relieveIfStuck();
        }
        assertThat(relief.get().isInHandler()).as("the first thread is on duty").isTrue();
        assertThat(handlers).isEmpty();

        relief.get().relieveIfStuck();

        CountDownLatch second = handlers.poll(20, TimeUnit.SECONDS);
        assertThat(second).as("the handler of a second thread on duty").isNotNull();
        first.countDown();
        second.countDown();
    }

    private static Thread thread(Runnable task) {
        return new CallThread(task, "relief-test");
    }

    /** On a busy machine these tests' threads may be starved, but how long for is not their subject. */
    private static Starvation neverStarved() {
        return Starvation.of(Path.of("of no thread"));
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(50, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void shouldKeepOneThreadOnDutyHoweverRelievingAndComingBackMeet() {
        Crew crew = new Crew(connection);
        crew.relief.start();
        long begin = System.nanoTime();
        long bound = BOUND_NANOS;
        while (crew.relieved.get() < RELIEFS && System.nanoTime() - begin < bound) {
            crew.relief.relieveIfStuck();
            // A busy machine may stand still for as long as that.
            bound = crew.relieved.get() == 0 ? Await.BOUND.toNanos() : BOUND_NANOS;
        }
        long before = crew.turns();
        Await.until("a thread polls on", () -> crew.turns() > before);
        crew.stopping = true;
        Await.equal("threads that still poll", 0, crew.alive::get);

        assertThat(crew.relieved.get()).isPositive();
        assertThat(crew.together.get()).as("turns of two threads at once").isZero();
        assertThat(crew.handedOver)
                .as("turns counted in a field that only the thread on duty touches")
                .isEqualTo(crew.turns());
    }

    /** Threads that poll one after the other, with handlers now shorter, now longer than the watcher's patience. */
    private static final class Crew {
        private final Relief.Served connection;
        private final Relief<Relief.Served> relief =
                new Relief<>(this::poll, ReliefTest::thread, back -> {}, ReliefTest::neverStarved);
        private final AtomicInteger polling = new AtomicInteger();
        private final AtomicInteger together = new AtomicInteger();
        private final AtomicInteger relieved = new AtomicInteger();
        private final AtomicInteger alive = new AtomicInteger(1);
        private final AtomicLong turns = new AtomicLong();
        private volatile boolean stopping;
        /** Plain, as a poller's fields are: what one thread leaves the next one has to see. */
        private long handedOver;

        private Crew(Relief.Served connection) {
            this.connection = connection;
        }

        private long turns() {
            return turns.get();
        }

        private void poll() {
            Random random = new Random();
            Relief.Marks<Relief.Served> entered;
            do {
                if (stopping) {
                    alive.decrementAndGet();
                    return;
                }
                turn(random);
                entered = relief.enter(connection);
                spin(random);
            } while (relief.leave(entered));
            relieved.incrementAndGet();
        }

        /** Long enough for a successor to be seen in one of its own. */
        private void turn(Random random) {
            if (polling.incrementAndGet() != 1) {
                together.incrementAndGet();
            }
            long before = handedOver;
            spin(random);
            handedOver = before + 1;
            turns.incrementAndGet();
            polling.decrementAndGet();
        }

        private static void spin(Random random) {
            for (int i = random.nextInt(LONGEST_SPINS); i > 0; i--) {
                Thread.onSpinWait();
            }
        }
    }
}
