package dev.rackcall.rpc.contract;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.waiting.WaitStrategy;
import dev.rackcall.testkit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The contract of streams that callers send, over every transport. */
public abstract class StreamContract extends RpcFixture {
    private static final CallOptions LONG = CallOptions.DEFAULT.withTimeout(Await.BOUND);

    private final MeterService meter = new MeterService();
    private RpcChannel meterChannel;

    /** Places the server; subclasses choose the transport. */
    protected abstract RpcServer.Builder place(RpcServer.Builder server);

    /** As {@link #place(RpcServer.Builder)}. */
    protected abstract RpcChannel.Builder place(RpcChannel.Builder channel);

    private Meter meter() {
        serve(place(RpcServer.builder().service(Meter.class, meter)));
        meterChannel = open(place(RpcChannel.builder("/test/meter")));
        return meterChannel.stub(Meter.class, LONG);
    }

    private static Stream<Integer> numbers(int count) {
        return IntStream.range(0, count).boxed();
    }

    /** Waits for each element. */
    private static <T> Stream<T> taking(BlockingQueue<T> queue) {
        return Stream.generate(() -> {
            try {
                return queue.take();
            } catch (InterruptedException e) {
                throw new IllegalStateException("interrupted", e);
            }
        });
    }

    private Status end() throws InterruptedException {
        Status end = meter.ends.poll(Await.BOUND.toSeconds(), TimeUnit.SECONDS);
        assertThat(end).as("how the handler ended").isNotNull();
        return end;
    }

    // ---- sent

    @Test
    void shouldSendAStreamOfAnyLength() {
        Meter stub = meter();
        for (int count : new int[] {0, 1, 63, 64, 65, 10_000}) {
            AtomicBoolean closed = new AtomicBoolean();
            Stream<Meter.Reading> readings = IntStream.range(0, count)
                    .mapToObj(i -> new Meter.Reading("place " + i, i))
                    .onClose(() -> closed.set(true));
            assertThat(stub.record("nobody", readings))
                    .isEqualTo(new Meter.Summary(
                            count, (long) count * (count - 1) / 2, count == 0 ? "nobody" : "place " + (count - 1)));
            Await.until("the caller's stream is closed", closed::get);
        }
    }

    @Test
    void shouldSendElementsOfAnySize() throws Exception {
        Meter stub = meter();
        stub.drain(Stream.of(0, 80, 70_000, 1_000_000, 3, 200_000, 1).map(byte[]::new));
        assertThat(end()).isEqualTo(Status.OK);
    }

    @Test
    void shouldSendManyStreamsAtOnce() throws Exception {
        Meter stub = meter();
        AtomicInteger right = new AtomicInteger();
        List<Thread> callers = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            callers.add(Thread.startVirtualThread(() -> {
                for (int j = 0; j < 20; j++) {
                    if (stub.first(200, false, numbers(200)).size() == 200 && stub.add(j, 1) == j + 1) {
                        right.incrementAndGet();
                    }
                }
            }));
        }
        for (Thread each : callers) {
            assertThat(each.join(Await.BOUND)).isTrue();
        }
        assertThat(right).hasValue(8 * 20);
    }

    @Test
    void shouldNotReadTheCallersStreamFarAheadOfTheHandler() throws Exception {
        Meter stub = meter();
        AtomicInteger read = new AtomicInteger();
        Thread caller =
                Thread.startVirtualThread(() -> stub.taken(numbers(5_000).peek(_ -> read.incrementAndGet())));
        meter.permits.release(1_000);
        Await.until("a thousand elements are read", () -> read.get() > 1_000);
        Await.until("the handler has taken them", () -> meter.permits.availablePermits() == 0);
        // One request that the handler has, one in its slot, and what the caller's side holds, of 64 each.
        assertThat(read.get()).isBetween(1_001, 1_000 + 4 * 64);
        meter.permits.release(4_000);
        assertThat(caller.join(Await.BOUND)).isTrue();
        assertThat(read).hasValue(5_000);
        assertThat(end()).isEqualTo(Status.OK);
    }

    @Test
    void shouldStopTheCallersStreamOnceTheHandlerWantsNoMore() {
        Meter stub = meter();
        for (boolean close : new boolean[] {true, false}) {
            AtomicBoolean closed = new AtomicBoolean();
            List<Integer> taken =
                    stub.first(3, close, Stream.iterate(0, i -> i + 1).onClose(() -> closed.set(true)));
            assertThat(taken).containsExactly(0, 1, 2);
            Await.until("the caller's stream is closed", closed::get);
        }
    }

    @Test
    void shouldStopACallersStreamThatWaitsForItsNextElement() {
        Meter stub = meter();
        BlockingQueue<Integer> queue = new LinkedBlockingQueue<>(List.of(1, 2));
        AtomicBoolean closed = new AtomicBoolean();
        assertThat(stub.first(2, false, taking(queue).onClose(() -> closed.set(true))))
                .containsExactly(1, 2);
        Await.until("the caller's stream is closed", closed::get);
    }

    // ---- failures

    @Test
    void shouldTellTheHandlerWhyTheCallersStreamFailed() throws Exception {
        Meter stub = meter();
        Stream<byte[]> failing = Stream.of(1, 2, 3).map(each -> {
            if (each == 3) {
                throw Status.Code.DATA_LOSS.with("block 3 is gone").asException();
            }
            return new byte[each];
        });
        assertFails(Status.Code.DATA_LOSS, () -> stub.drain(failing)).hasMessageContaining("block 3 is gone");
        assertThat(end().code()).isEqualTo(Status.Code.DATA_LOSS);

        IllegalStateException own = new IllegalStateException("own");
        assertFails(
                        Status.Code.UNKNOWN,
                        () -> stub.drain(Stream.generate(() -> {
                            throw own;
                        })))
                .hasMessageContaining("own")
                .hasSuppressedException(own);
        assertThat(end().code()).isEqualTo(Status.Code.UNKNOWN);

        assertFails(Status.Code.INVALID_ARGUMENT, () -> stub.drain(Stream.of(new byte[1], null)))
                .hasMessageContaining("null element");
        assertThat(end().code()).isEqualTo(Status.Code.INVALID_ARGUMENT);
    }

    @Test
    void shouldFailWithTheHandlersStatusWhileTheCallersStreamWaits() {
        Meter stub = meter();
        BlockingQueue<Integer> queue = new LinkedBlockingQueue<>(List.of(4, -4));
        AtomicBoolean closed = new AtomicBoolean();
        try (Stream<Integer> doubled = stub.doubled(taking(queue).onClose(() -> closed.set(true)))) {
            Iterator<Integer> each = doubled.iterator();
            assertThat(each.next()).isEqualTo(8);
            assertFails(Status.Code.OUT_OF_RANGE, each::hasNext).hasMessageContaining("-4 is negative");
            Await.until("the caller's stream is closed", closed::get);
        }
    }

    @Test
    void shouldEndBothSidesAtTheDeadline() throws Exception {
        Meter stub = meter();
        Meter hurried = meterChannel.stub(Meter.class, within(Duration.ofMillis(300)));
        // Again: on a busy machine the deadline may pass before the handler has begun.
        Await.until("a handler", () -> {
            AtomicBoolean closed = new AtomicBoolean();
            assertFails(
                    Status.Code.DEADLINE_EXCEEDED,
                    () -> hurried.drain(Stream.concat(Stream.of(new byte[1]), taking(new LinkedBlockingQueue<byte[]>()))
                            .onClose(() -> closed.set(true))));
            Await.until("the caller's stream is closed", closed::get);
            return meter.begun.get() > 0;
        });
        assertThat(end().code()).isIn(Status.Code.DEADLINE_EXCEEDED, Status.Code.CANCELLED);
        assertThat(stub.add(1, 2)).isEqualTo(3);
    }

    @Test
    void shouldEndBothSidesWhenTheCallerIsInterrupted() throws Exception {
        Meter stub = meter();
        AtomicBoolean closed = new AtomicBoolean();
        BlockingQueue<Status.Code> codes = new LinkedBlockingQueue<>();
        Thread caller = Thread.ofPlatform()
                .start(() -> codes.add(codeOf(() ->
                        stub.drain(taking(new LinkedBlockingQueue<byte[]>()).onClose(() -> closed.set(true))))));
        Await.until("the handler runs", () -> meter.running.get() == 1);
        caller.interrupt();
        assertThat(codes.poll(Await.BOUND.toSeconds(), TimeUnit.SECONDS)).isEqualTo(Status.Code.CANCELLED);
        assertThat(end().code()).isEqualTo(Status.Code.CANCELLED);
        Await.until("the caller's stream is closed", closed::get);
    }

    @Test
    void shouldEndTheHandlerWhenTheClientCloses() throws Exception {
        Meter stub = meter();
        BlockingQueue<Status.Code> codes = new LinkedBlockingQueue<>();
        Thread.ofVirtual().start(() -> codes.add(codeOf(() -> stub.drain(taking(new LinkedBlockingQueue<byte[]>())))));
        Await.until("the handler runs", () -> meter.running.get() == 1);
        meterChannel.close();
        assertThat(codes.poll(Await.BOUND.toSeconds(), TimeUnit.SECONDS)).isEqualTo(Status.Code.CANCELLED);
        assertThat(end().code()).isIn(Status.Code.UNAVAILABLE, Status.Code.CANCELLED);
    }

    @Test
    void shouldRefuseMoreStreamsThanHaveSlotsAndLeaveThemFree() throws Exception {
        serve(place(RpcServer.builder().service(Meter.class, meter)));
        meterChannel = open(place(RpcChannel.builder("/test/meter").slots(8)));
        Meter stub = meterChannel.stub(Meter.class, LONG);
        List<BlockingQueue<Integer>> sources = new ArrayList<>();
        List<Stream<Integer>> answers = new ArrayList<>();
        Supplier<Stream<Integer>> opening = () -> {
            BlockingQueue<Integer> source = new LinkedBlockingQueue<>();
            sources.add(source);
            return stub.doubled(taking(source));
        };
        for (int i = 0; i < 3; i++) {
            answers.add(opening.get());
        }
        Meter hurried = meterChannel.stub(Meter.class, within(Duration.ofMillis(50)));
        assertFails(Status.Code.RESOURCE_EXHAUSTED, () -> hurried.doubled(numbers(1)))
                .hasMessageContaining("3 calls of this connection sent streams until the deadline");
        assertThat(stub.add(1, 2)).as("a call meanwhile").isEqualTo(3);
        for (int i = 0; i < 3; i++) {
            sources.get(i).add(i);
            Iterator<Integer> each = answers.get(i).iterator();
            assertThat(each.next()).isEqualTo(2 * i);
            answers.get(i).close();
        }
        stub.doubled(numbers(1)).close();
    }

    @Test
    void shouldLeaveNoSlotBehind() {
        serve(place(RpcServer.builder().service(Meter.class, meter)));
        for (int slots : new int[] {2, 4}) {
            Meter stub =
                    open(place(RpcChannel.builder("/test/meter").slots(slots))).stub(Meter.class, LONG);
            for (int i = 0; i < 100; i++) {
                assertThat(stub.first(1, true, numbers(500))).containsExactly(0);
                stub.doubled(numbers(500)).close();
                assertThat(stub.record("i", Stream.empty()).last()).isEqualTo("i");
            }
        }
    }

    @Test
    void shouldLetCallsWaitThatAreMoreThanHaveSlots() throws Exception {
        serve(place(RpcServer.builder().service(Meter.class, meter)));
        Meter stub = open(place(RpcChannel.builder("/test/meter").slots(4))).stub(Meter.class, LONG);
        AtomicInteger right = new AtomicInteger();
        List<Thread> callers = new ArrayList<>();
        for (int i = 0; i < 6; i++) {
            callers.add(Thread.startVirtualThread(() -> {
                if (stub.first(500, false, numbers(500)).size() == 500) {
                    right.incrementAndGet();
                }
            }));
        }
        for (Thread each : callers) {
            assertThat(each.join(Await.BOUND)).isTrue();
        }
        assertThat(right).hasValue(6);
    }

    @Test
    void shouldEndCallsWhoseStreamCannotBeClosed() {
        serve(place(RpcServer.builder().service(Meter.class, meter)));
        Meter stub = open(place(RpcChannel.builder("/test/meter").slots(2))).stub(Meter.class, LONG);
        Supplier<Stream<Integer>> failing = () -> numbers(500).onClose(() -> {
            throw new IllegalStateException("cannot be closed");
        });
        for (int i = 0; i < 10; i++) {
            assertThat(stub.first(1, true, failing.get())).containsExactly(0);
            stub.doubled(failing.get()).close();
        }
        assertThat(stub.add(1, 2)).isEqualTo(3);
    }

    @Test
    void shouldNotSpinOnTheThreadsThatSend() throws Exception {
        serve(place(RpcServer.builder().service(Meter.class, meter)));
        Meter stub = open(place(RpcChannel.builder("/test/meter").waiting(WaitStrategy.busySpin())))
                .stub(Meter.class, LONG);
        List<Thread> callers = new ArrayList<>();
        for (int i = 0; i < Runtime.getRuntime().availableProcessors() + 2; i++) {
            callers.add(Thread.startVirtualThread(() -> stub.taken(numbers(1_000))));
        }
        Await.until("all handlers wait", () -> meter.running.get() == callers.size());
        Thread other = Thread.startVirtualThread(() -> {});
        assertThat(other.join(Await.BOUND)).as("another virtual thread runs").isTrue();
        meter.permits.release(1_000 * callers.size());
        for (Thread each : callers) {
            assertThat(each.join(Await.BOUND)).isTrue();
        }
    }

    // ---- both ways

    @Test
    void shouldStopTheCallersStreamAtTheDeadlineOrEndThoughNoneReadsTheReturnedOne() {
        meter();
        Meter hurried = meterChannel.stub(Meter.class, within(Duration.ofMillis(200)));
        AtomicBoolean closed = new AtomicBoolean();
        Stream<Integer> unread =
                hurried.doubled(taking(new LinkedBlockingQueue<Integer>()).onClose(() -> closed.set(true)));
        Await.until("the caller's stream is closed at the deadline", closed::get);
        unread.close();

        AtomicBoolean closedToo = new AtomicBoolean();
        meterChannel
                .stub(Meter.class, LONG)
                .doubled(taking(new LinkedBlockingQueue<Integer>()).onClose(() -> closedToo.set(true)));
        meterChannel.close();
        Await.until("the caller's stream is closed with the channel", closedToo::get);
    }

    @Test
    void shouldSendAndReceiveAtTheSameTime() {
        Meter stub = meter();
        try (Stream<Integer> doubled = stub.doubled(numbers(10_000))) {
            assertThat(doubled.toList()).hasSize(10_000).startsWith(0, 2, 4).endsWith(19_998);
        }
        assertThat(stub.doubled(Stream.empty()).toList()).isEmpty();
    }

    @Test
    void shouldAnswerEachElementBeforeTheNextIsSent() {
        Meter stub = meter();
        BlockingQueue<Integer> questions = new LinkedBlockingQueue<>();
        try (Stream<Integer> doubled = stub.doubled(taking(questions))) {
            Iterator<Integer> answers = doubled.iterator();
            for (int i = 0; i < 500; i++) {
                questions.add(i);
                assertThat(answers.next()).isEqualTo(2 * i);
            }
        }
    }

    @Test
    void shouldReturnTheStreamBeforeTheHandlerHas() {
        Meter stub = meter();
        BlockingQueue<String> names = new LinkedBlockingQueue<>();
        Stream<String> greetings = stub.greet("hello", taking(names));
        names.add("Ada");
        names.add("Bob");
        assertThat(greetings.toList()).containsExactly("hello Ada", "and Bob");
    }

    @Test
    void shouldCloseTheCallersStreamWithTheReturnedOne() {
        Meter stub = meter();
        AtomicBoolean closed = new AtomicBoolean();
        BlockingQueue<Integer> queue = new LinkedBlockingQueue<>(List.of(1));
        Stream<Integer> doubled = stub.doubled(taking(queue).onClose(() -> closed.set(true)));
        assertThat(doubled.iterator().next()).isEqualTo(2);
        doubled.close();
        Await.until("the caller's stream is closed", closed::get);

        AtomicBoolean closedToo = new AtomicBoolean();
        Stream<String> unread =
                stub.greet("hello", taking(new LinkedBlockingQueue<String>()).onClose(() -> closedToo.set(true)));
        unread.close();
        Await.until("the unread call's stream is closed", closedToo::get);
    }

    @Test
    void shouldEndAReturnedStreamWhoseServerCloses() {
        RpcServer server = serve(place(RpcServer.builder().service(Meter.class, meter)));
        meterChannel = open(place(RpcChannel.builder("/test/meter")));
        Meter stub = meterChannel.stub(Meter.class, LONG);
        AtomicBoolean closed = new AtomicBoolean();
        BlockingQueue<Integer> queue = new LinkedBlockingQueue<>(List.of(1));
        try (Stream<Integer> doubled = stub.doubled(taking(queue).onClose(() -> closed.set(true)))) {
            Iterator<Integer> answers = doubled.iterator();
            assertThat(answers.next()).isEqualTo(2);
            server.close();
            assertThatThrownBy(answers::hasNext).hasMessageContaining("UNAVAILABLE");
            Await.until("the caller's stream is closed", closed::get);
        }
    }
}
