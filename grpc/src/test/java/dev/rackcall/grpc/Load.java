package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;

/** Threads that call a {@link BytesService} with values of all sizes and check each answer, until one is wrong. */
final class Load implements AutoCloseable {
    static final long SEED = Long.getLong("rackcall.seed", System.nanoTime());

    private static final int CALLERS = 3;

    private final ManagedChannel channel;
    private final CallOptions common;
    private final Set<Status.Code> tolerated;
    /** By caller. */
    private final AtomicLongArray answers = new AtomicLongArray(CALLERS);

    private final AtomicReference<Throwable> wrong = new AtomicReference<>();
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean ended;

    /**
     * @param common the options of all calls, without a deadline
     * @param tolerated how a call may fail
     */
    Load(ManagedChannel channel, CallOptions common, Status.Code... tolerated) {
        this.channel = channel;
        this.common = common;
        this.tolerated = Set.of(tolerated);
        for (int i = 0; i < CALLERS; i++) {
            int caller = i;
            threads.add(Thread.ofPlatform().name("caller-" + i).start(() -> run(caller)));
        }
    }

    private void run(int caller) {
        Random random = new Random(SEED + caller);
        while (!ended && wrong.get() == null) {
            byte[] value = new byte[random.nextInt(8) == 0 ? random.nextInt(300_000) : random.nextInt(2_000)];
            Arrays.fill(value, (byte) random.nextInt());
            CallOptions options = common.withDeadlineAfter(100, TimeUnit.SECONDS);
            try {
                switch (random.nextInt(4)) {
                    case 0 -> repeat(options, value);
                    case 1 -> chat(options, value);
                    default -> echo(options, value);
                }
                answers.incrementAndGet(caller);
            } catch (Throwable e) {
                if (!(e instanceof StatusRuntimeException failed
                        && tolerated.contains(failed.getStatus().getCode()))) {
                    wrong.compareAndSet(null, e);
                }
            }
        }
    }

    private void echo(CallOptions options, byte[] value) {
        assertThat(ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, options, value))
                .isEqualTo(value);
    }

    private void repeat(CallOptions options, byte[] value) {
        Iterator<byte[]> parts = ClientCalls.blockingServerStreamingCall(channel, BytesService.REPEAT, options, value);
        for (int i = 0; i < BytesService.PARTS; i++) {
            assertThat(parts.next()).isEqualTo(value);
        }
        assertThat(parts.hasNext()).isFalse();
    }

    /** Streams in both directions, with a pause between its messages in which a server may begin to drain. */
    private void chat(CallOptions options, byte[] value) throws Throwable {
        BlockingQueue<Object> events = new LinkedBlockingQueue<>();
        StreamObserver<byte[]> requests =
                ClientCalls.asyncBidiStreamingCall(channel.newCall(BytesService.CHAT, options), new StreamObserver<>() {
                    @Override
                    public void onNext(byte[] answer) {
                        events.add(answer);
                    }

                    @Override
                    public void onError(Throwable failure) {
                        events.add(failure);
                    }

                    @Override
                    public void onCompleted() {
                        events.add("end");
                    }
                });
        for (int i = 0; i < BytesService.PARTS; i++) {
            requests.onNext(value);
            assertThat(next(events)).isEqualTo(value);
        }
        requests.onCompleted();
        assertThat(next(events)).isEqualTo("end");
    }

    private static Object next(BlockingQueue<Object> events) throws Throwable {
        Object event = events.poll(100, TimeUnit.SECONDS);
        if (event instanceof Throwable failure) {
            throw failure;
        }
        return event;
    }

    /**
     * Waits until each caller has this many more answers. All but a caller's first are to calls that began meanwhile: no
     * call is left that an earlier server has refused, and that would be repeated only once.
     */
    void awaitAnswers(long more) {
        long[] enough = IntStream.range(0, CALLERS)
                .mapToLong(caller -> answers.get(caller) + more)
                .toArray();
        Await.until(
                "answers",
                () -> wrong.get() != null
                        || IntStream.range(0, CALLERS).allMatch(caller -> answers.get(caller) >= enough[caller]));
        requireNoneWrong();
    }

    private void requireNoneWrong() {
        assertThat(wrong.get()).as("seed %d", SEED).isNull();
    }

    /** Waits for the end of the calls that are in flight. */
    @Override
    public void close() throws InterruptedException {
        ended = true;
        for (Thread thread : threads) {
            thread.join();
        }
        requireNoneWrong();
    }
}
