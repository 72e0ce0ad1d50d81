package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Servers are replaced amid calls of all kinds: a successor starts, then the predecessor shuts down. No call fails,
 * although none waits for a server.
 */
class DrainTest {
    private static final String CHANNEL = "/test/drain";
    private static final int ROUNDS = 5;
    private static final int CALLERS = 3;
    private static final int CALLS = 60;

    @TempDir
    private Path directory;

    private int servers;

    /** Starts a server beside the others. */
    private interface Starter {
        Server start(int number) throws IOException;
    }

    private static RackcallServerBuilder server(RackcallSocketAddress address) {
        return RackcallServerBuilder.forAddress(address).addService(new BytesService());
    }

    @Test
    void shouldLoseNoCallOverMemory() throws Exception {
        replaceServers(
                number -> server(address()).build().start(),
                RackcallChannelBuilder.forAddress(address()).build(),
                CallOptions.DEFAULT);
    }

    @Test
    void shouldLoseNoCallOfABalancedChannel() throws Exception {
        replaceServers(
                number -> server(address()).build().start(),
                RackcallChannelBuilder.forAddress(address())
                        .defaultLoadBalancingPolicy("round_robin")
                        .build(),
                CallOptions.DEFAULT);
    }

    /** A channel may learn of the successor only after the end of its server; its calls wait for that. */
    @Test
    void shouldLoseNoCallOverTheSoftwareDevice() throws Exception {
        URI names = directory.resolve("names").toUri();
        replaceServers(
                number -> server(RackcallSocketAddress.of(CHANNEL, directory.resolve("host-" + number)))
                        .listen(URI.create("rdma://127.0.0.1:0"))
                        .directory(names)
                        .build()
                        .start(),
                RackcallChannelBuilder.forDirectory(CHANNEL, names).build(),
                CallOptions.DEFAULT.withWaitForReady());
        // A server that ends does not wait long for the withdrawal of its entry, which writes into this folder.
        Await.until("the end of the directory", () -> DirectoryTest.isDeleted(Path.of(names)));
    }

    private RackcallSocketAddress address() {
        return RackcallSocketAddress.of(CHANNEL, directory);
    }

    private void replaceServers(Starter starter, ManagedChannel channel, CallOptions options) throws Exception {
        Server serving = starter.start(servers++);
        try (Load load = new Load(channel, options)) {
            for (int i = 0; i < ROUNDS; i++) {
                load.awaitAnswers();
                Server successor = starter.start(servers++);
                serving.shutdown();
                assertThat(serving.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
                serving = successor;
            }
            load.awaitAnswers();
        } finally {
            channel.shutdownNow();
            serving.shutdownNow();
            assertThat(serving.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
        }
    }

    /** Callers that check each answer, until one is wrong. */
    private static final class Load implements AutoCloseable {
        private final ManagedChannel channel;
        private final CallOptions common;
        private final AtomicLong answers = new AtomicLong();
        private final AtomicReference<Throwable> wrong = new AtomicReference<>();
        private final List<Thread> threads = new ArrayList<>();
        private volatile boolean ended;

        Load(ManagedChannel channel, CallOptions common) {
            this.channel = channel;
            this.common = common;
            for (int i = 0; i < CALLERS; i++) {
                threads.add(Thread.ofPlatform().name("caller-" + i).start(this::run));
            }
        }

        private void run() {
            try {
                for (int i = 0; !ended; i++) {
                    byte[] value = new byte[i % 7 == 0 ? 50_000 : 100];
                    Arrays.fill(value, (byte) i);
                    CallOptions options = common.withDeadlineAfter(100, TimeUnit.SECONDS);
                    switch (i % 3) {
                        case 0 -> echo(options, value);
                        case 1 -> repeat(options, value);
                        default -> chat(options, value);
                    }
                    answers.incrementAndGet();
                }
            } catch (Throwable e) {
                wrong.compareAndSet(null, e);
            }
        }

        private void echo(CallOptions options, byte[] value) {
            assertThat(ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, options, value))
                    .isEqualTo(value);
        }

        private void repeat(CallOptions options, byte[] value) {
            Iterator<byte[]> parts =
                    ClientCalls.blockingServerStreamingCall(channel, BytesService.REPEAT, options, value);
            for (int i = 0; i < BytesService.PARTS; i++) {
                assertThat(parts.next()).isEqualTo(value);
            }
            assertThat(parts.hasNext()).isFalse();
        }

        /** Streams in both directions, with a pause between its messages in which a server may begin to drain. */
        private void chat(CallOptions options, byte[] value) throws Throwable {
            BlockingQueue<Object> events = new LinkedBlockingQueue<>();
            StreamObserver<byte[]> requests = ClientCalls.asyncBidiStreamingCall(
                    channel.newCall(BytesService.CHAT, options), new StreamObserver<>() {
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

        void awaitAnswers() {
            long enough = answers.get() + CALLS;
            Await.until("answers", () -> answers.get() >= enough || wrong.get() != null);
            assertThat(wrong.get()).isNull();
        }

        @Override
        public void close() throws InterruptedException {
            ended = true;
            for (Thread thread : threads) {
                thread.join();
            }
            assertThat(wrong.get()).isNull();
        }
    }
}
