package dev.rackcall.rpc.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.Echo;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Peer;
import dev.rackcall.rpc.SandboxPolicy;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.os.socket.UnixSocket;
import dev.rackcall.shm.waiting.WaitStrategy;
import dev.rackcall.testkit.Await;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** One thread has the duty to poll, never two and never none, whenever handlers get stuck and come back. */
@Timeout(60)
class ReliefTest {
    private static final int RELIEFS = 400;
    private static final long BOUND_NANOS = TimeUnit.SECONDS.toNanos(2);
    private static final int LONGEST_SPINS = 4_000;

    private UnixSocket.Pair sockets;
    private ConnectionFactory factory;
    private ShmServerConnection connection;

    @BeforeEach
    void connect() {
        ServerSpec.Service<Echo> service =
                new ServerSpec.Service<>(ServiceDefinition.of(Echo.class), (method, call) -> {});
        ServerSpec spec = new ServerSpec(
                List.of(service),
                List.of(),
                Dispatch.direct(),
                WaitStrategy.adaptive(),
                1,
                Path.of("unused"),
                1,
                1 << 20,
                1 << 20,
                Isolation.TRUSTED,
                SandboxPolicy.STRICT,
                Duration.ofSeconds(1),
                Optional.empty(),
                Optional.empty(),
                List.of());
        sockets = UnixSocket.pair();
        factory = new ConnectionFactory(spec, service, Handlers.of(spec.dispatch()));
        ConnectionFactory.Offer offer = factory.prepare(
                sockets.left(),
                new Handshake.Hello(ControlLayout.VERSION, factory.channel(), 2, 1 << 20),
                new Peer(0, 0, 0),
                new ConnectionCount());
        offer.close();
        connection = offer.connection();
    }

    @AfterEach
    void disconnect() {
        connection.close();
        factory.close();
        sockets.right().close();
    }

    @Test
    void shouldRelieveAStuckThreadThoughTheOneBeforeItComesBackMeanwhile() throws InterruptedException {
        BlockingQueue<CountDownLatch> handlers = new LinkedBlockingQueue<>();
        AtomicInteger returned = new AtomicInteger();
        Relief[] relief = new Relief[1];
        relief[0] = new Relief(
                () -> {
                    CountDownLatch end = new CountDownLatch(1);
                    Relief.Marks entered = relief[0].enter(connection);
                    handlers.add(end);
                    await(end);
                    if (!relief[0].leave(entered)) {
                        connection.use.callEnds();
                        returned.incrementAndGet();
                    }
                },
                "relief-test");
        relief[0].start();
        CountDownLatch first = handlers.poll(20, TimeUnit.SECONDS);
        relief[0].relieveIfStuck();
        relief[0].relieveIfStuck();
        CountDownLatch second = handlers.poll(20, TimeUnit.SECONDS);
        first.countDown();
        Await.equal("threads that came back", 1, returned::get);

        relief[0].relieveIfStuck();
        relief[0].relieveIfStuck();

        CountDownLatch third = handlers.poll(20, TimeUnit.SECONDS);
        assertThat(third).as("the handler of a third thread on duty").isNotNull();
        second.countDown();
        Await.equal("threads that came back", 2, returned::get);
        relief[0].relieveIfStuck();
        relief[0].relieveIfStuck();
        third.countDown();
        Await.equal("threads that came back", 3, returned::get);
        handlers.poll(20, TimeUnit.SECONDS).countDown();
    }

    /** As where a container's limit of processes is reached. */
    @Test
    void shouldLeaveTheDutyWhereItIsIfNoThreadCanBeStarted() throws InterruptedException {
        BlockingQueue<CountDownLatch> handlers = new LinkedBlockingQueue<>();
        AtomicInteger kept = new AtomicInteger();
        AtomicBoolean exhausted = new AtomicBoolean(true);
        Relief[] relief = new Relief[1];
        Runnable body = () -> {
            Relief.Marks entered;
            do {
                CountDownLatch end = new CountDownLatch(1);
                entered = relief[0].enter(connection);
                handlers.add(end);
                await(end);
            } while (relief[0].leave(entered) && kept.incrementAndGet() < 3);
        };
        relief[0] = new Relief(body, task -> new Thread(task, "relief-test") {
            @Override
            public void start() {
                if (exhausted.get() && kept.get() > 0) {
                    throw new OutOfMemoryError("unable to create native thread, as expected in this test");
                }
                super.start();
            }
        });
        relief[0].start();
        handlers.poll(20, TimeUnit.SECONDS).countDown();
        CountDownLatch second = handlers.poll(20, TimeUnit.SECONDS);
        relief[0].relieveIfStuck();
        assertThatThrownBy(relief[0]::relieveIfStuck).isInstanceOf(OutOfMemoryError.class);
        second.countDown();
        Await.equal("turns after which the thread kept its duty", 2, kept::get);

        CountDownLatch third = handlers.poll(20, TimeUnit.SECONDS);
        exhausted.set(false);
        relief[0].relieveIfStuck();
        relief[0].relieveIfStuck();
        CountDownLatch fourth = handlers.poll(20, TimeUnit.SECONDS);
        assertThat(fourth).as("the handler of the next thread on duty").isNotNull();
        third.countDown();
        fourth.countDown();
        Await.equal("turns of the next thread", 3, kept::get);
        connection.use.callEnds();
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
        long end = System.nanoTime() + BOUND_NANOS;
        while (crew.relieved.get() < RELIEFS && System.nanoTime() - end < 0) {
            crew.relief.relieveIfStuck();
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
        private final ShmServerConnection connection;
        private final Relief relief = new Relief(this::poll, "relief-test");
        private final AtomicInteger polling = new AtomicInteger();
        private final AtomicInteger together = new AtomicInteger();
        private final AtomicInteger relieved = new AtomicInteger();
        private final AtomicInteger alive = new AtomicInteger(1);
        private final AtomicLong turns = new AtomicLong();
        private volatile boolean stopping;
        /** Plain, as a poller's fields are: what one thread leaves the next one has to see. */
        private long handedOver;

        private Crew(ShmServerConnection connection) {
            this.connection = connection;
        }

        private long turns() {
            return turns.get();
        }

        private void poll() {
            Random random = new Random();
            Relief.Marks entered;
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
            connection.use.callEnds();
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
