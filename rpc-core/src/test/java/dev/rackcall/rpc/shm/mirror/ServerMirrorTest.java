package dev.rackcall.rpc.shm.mirror;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.shm.protocol.Handshake;
import dev.rackcall.rpc.shm.protocol.SlotLayout;
import dev.rackcall.rpc.shm.server.ConnectionFactory;
import dev.rackcall.rpc.shm.server.ConnectionPlan;
import dev.rackcall.rpc.spi.Carrier;
import dev.rackcall.rpc.spi.ServedInterface;
import dev.rackcall.shm.os.file.SharedFile;
import dev.rackcall.testkit.Await;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Which answers a server carries over: each that was published, once, wherever it lies among thousands of slots. */
class ServerMirrorTest {
    private static final int SLOTS = 4096;
    private static final long QUOTA = 64 << 10;

    private final List<Integer> published = Collections.synchronizedList(new ArrayList<>());
    /** What another thread does just when a word is published. */
    private Runnable whilePublishing = () -> {};

    private SharedFile file;
    private ServerMirror mirror;

    /** Records the slots whose words are published, and succeeds with everything else. */
    private Object carry(Object proxy, Method method, Object[] arguments) {
        if (method.getName().equals("publish")) {
            for (int i = 0; i < SLOTS; i++) {
                if (ControlLayout.slot(i) + SlotLayout.RESPONSE_WORD == (long) arguments[0]) {
                    published.add(i);
                }
            }
            whilePublishing.run();
        }
        return switch (method.getReturnType().getName()) {
            case "boolean" -> true;
            case "long" -> 0L;
            default -> null;
        };
    }

    @BeforeEach
    void open() {
        ConnectionPlan plan = ConnectionPlan.of(SLOTS, QUOTA, ControlLayout.PAGE);
        Handshake.ServerHello serverHello = new Handshake.ServerHello(
                Status.OK,
                1,
                SLOTS,
                2,
                new Handshake.Arenas(
                        new Handshake.ArenaPlace(1, plan.requestAt(), QUOTA),
                        new Handshake.ArenaPlace(2, plan.replyAt(), QUOTA),
                        new Handshake.ArenaPlace(3, 0, QUOTA)),
                new ServedInterface("", 0, ""));
        file = SharedFile.memfd("rackcall-test", ConnectionFactory.bytes(serverHello));
        file.reserve(0, file.bytes());
        Carrier recording = (Carrier)
                Proxy.newProxyInstance(Carrier.class.getClassLoader(), new Class<?>[] {Carrier.class}, this::carry);
        mirror = new ServerMirror(recording, file.map(), serverHello);
        ControlLayout.initialise(mirror.memory(), SLOTS, 1);
    }

    @AfterEach
    void close() {
        mirror.close();
        file.close();
    }

    private void answer(int index) {
        SlotLayout.publishResponse(mirror.memory(), ControlLayout.slot(index), SlotLayout.word(index, 0, 0, 0));
        mirror.answered(index);
    }

    @Test
    void shouldCarryEachAnswerOnce() {
        for (int index : new int[] {0, 63, 64, 1000, SLOTS - 1}) {
            answer(index);
        }
        assertThat(mirror.ring()).isTrue();
        assertThat(published).containsExactly(0, 63, 64, 1000, SLOTS - 1);
        mirror.ring();
        assertThat(published).hasSize(5);
        answer(63);
        mirror.ring();
        assertThat(published).endsWith(63).hasSize(6);
    }

    /**
     * A thread that pushes for others does so only for a while; what they have published is carried all the same.
     */
    @Test
    void shouldCarryForOthersOnlyForAWhile() throws InterruptedException {
        int asked = 2000;
        AtomicInteger rung = new AtomicInteger();
        AtomicInteger here = new AtomicInteger();
        CountDownLatch all = new CountDownLatch(asked);
        Thread self = Thread.currentThread();
        whilePublishing = () -> {
            here.addAndGet(Thread.currentThread() == self ? 1 : 0);
            all.countDown();
            int next = rung.incrementAndGet();
            if (next < asked) {
                answer(next);
                mirror.ring();
            }
        };
        answer(0);
        // Virtual threads that spin, as callers do that wait without ever sleeping, have all processors that there are
        // for
        // such threads.
        AtomicBoolean done = new AtomicBoolean();
        for (int i = 0; i < Runtime.getRuntime().availableProcessors(); i++) {
            Thread.startVirtualThread(() -> {
                while (!done.get()) {
                    Thread.onSpinWait();
                }
            });
        }
        try {
            assertThat(mirror.ring()).isTrue();
            assertThat(here.get()).isBetween(1, 100);
            Await.latch(all);
        } finally {
            done.set(true);
        }
        assertThat(published).hasSize(asked);
    }

    /**
     * Answers that others published meanwhile would wait for ever: the connection ends instead, and they are told so.
     */
    @Test
    void shouldEndWhenSomethingCannotBeCarried() {
        whilePublishing = () -> {
            answer(9);
            mirror.ring();
            throw new UnsupportedOperationException("expected in this test");
        };
        answer(8);
        assertThat(mirror.ring()).isFalse();
        assertThat(mirror.drain(number -> {})).isNegative();
        assertThat(mirror.ring()).isFalse();
        assertThat(published).containsExactly(8);
    }

    /**
     * As when a client gives up all its calls while the server's poller has another handler to wait for: each says so
     * by a number.
     */
    @Test
    void shouldHearOfEachCallThatIsCancelled() {
        List<Long> cancelled = new ArrayList<>();
        for (long ticket = 0; ticket < 2 * SLOTS; ticket++) {
            mirror.told(ticket);
        }
        while (mirror.drain(cancelled::add) > 0) {
            assertThat(cancelled).hasSize(2 * SLOTS);
        }
        assertThat(cancelled)
                .containsExactlyElementsOf(
                        LongStream.range(0, 2 * SLOTS).boxed().toList());
    }

    /** The thread that takes them has other connections to look after. */
    @Test
    void shouldTakeOnlyWhatWasToldBefore() {
        mirror.told(1);
        List<Long> taken = new ArrayList<>();
        for (long last = 1; last < 4; last++) {
            mirror.drain(number -> {
                taken.add(number);
                if (number < 9) {
                    mirror.told(number + 1);
                }
            });
            assertThat(taken).hasSize((int) last);
        }
        assertThat(taken).containsExactly(1L, 2L, 3L);
    }

    /**
     * A peer that floods loses its connection. This process does not run out of heap, and no number is lost silently.
     */
    @Test
    void shouldEndWhenNumbersCannotBeCalls() {
        for (long number = 0; number <= MirrorBell.MOST_NUMBERS; number++) {
            assertThat(mirror.ring()).isTrue();
            mirror.told(number);
        }
        assertThat(mirror.ring()).isFalse();
        AtomicInteger taken = new AtomicInteger();
        int drained = 0;
        for (int i = 0; i < MirrorBell.MOST_NUMBERS && drained >= 0; i++) {
            drained = mirror.drain(number -> taken.incrementAndGet());
            mirror.told(-1);
        }
        assertThat(drained).isNegative();
        assertThat(taken.get()).isEqualTo(MirrorBell.MOST_NUMBERS);
    }

    @Test
    void shouldLookOnlyAtSlotsThatWereAnswered() {
        SlotLayout.publishResponse(mirror.memory(), ControlLayout.slot(5), SlotLayout.word(5, 0, 0, 0));
        answer(7);
        mirror.ring();
        assertThat(published).containsExactly(7);
    }
}
