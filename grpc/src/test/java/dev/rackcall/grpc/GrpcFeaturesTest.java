package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientInterceptors;
import io.grpc.Context;
import io.grpc.Deadline;
import io.grpc.ForwardingServerCall;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusException;
import io.grpc.stub.BlockingClientCall;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Features of gRPC's own that lean on what the transport does: cancellation, deadlines, threads, metadata. */
class GrpcFeaturesTest {
    private static final byte[] HELLO = {1, 2, 3};
    private static final int CALLS = 50;
    private static final Metadata.Key<String> WORD = Metadata.Key.of("word", Metadata.ASCII_STRING_MARSHALLER);

    @TempDir
    private Path directory;

    /** Of one test, since a deadline is a moment. */
    private final CallOptions patient = CallOptions.DEFAULT.withDeadlineAfter(100, TimeUnit.SECONDS);

    private Server server;
    private ManagedChannel channel;

    private RackcallSocketAddress address() {
        return RackcallSocketAddress.of("/test/features", directory);
    }

    private void start(ServerInterceptor interceptor, UnaryOperator<RackcallChannelBuilder> channelOptions)
            throws IOException {
        server = RackcallServerBuilder.forAddress(address())
                .addService(new BytesService())
                .intercept(interceptor)
                .build()
                .start();
        channel = channelOptions
                .apply(RackcallChannelBuilder.forAddress(address()))
                .build();
    }

    @AfterEach
    void stop() throws InterruptedException {
        channel.shutdownNow();
        server.shutdownNow();
        assertThat(server.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
    }

    /** Lets every call pass. */
    private static final class Passing implements ServerInterceptor {
        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            return next.startCall(call, headers);
        }
    }

    /** Never answers the first call. */
    private static final class Stuck implements ServerInterceptor {
        private final AtomicInteger calls = new AtomicInteger();
        private final CountDownLatch cancelled = new CountDownLatch(1);

        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            if (calls.incrementAndGet() > 1) {
                return next.startCall(call, headers);
            }
            return new ServerCall.Listener<>() {
                @Override
                public void onCancel() {
                    cancelled.countDown();
                }
            };
        }
    }

    /** Returns the caller's words in headers and trailers. */
    private static final class Answering implements ServerInterceptor {
        private static void copy(Metadata from, Metadata to, String suffix) {
            from.getAll(WORD).forEach(word -> to.put(WORD, word + suffix));
        }

        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            return next.startCall(
                    new ForwardingServerCall.SimpleForwardingServerCall<>(call) {
                        @Override
                        public void sendHeaders(Metadata back) {
                            copy(headers, back, "!");
                            super.sendHeaders(back);
                        }

                        @Override
                        public void close(Status status, Metadata trailers) {
                            copy(headers, trailers, "?");
                            super.close(status, trailers);
                        }
                    },
                    headers);
        }
    }

    @Test
    void shouldHedgeByServiceConfig() throws Exception {
        Stuck stuck = new Stuck();
        Map<String, ?> hedging =
                Map.of("maxAttempts", 2.0, "hedgingDelay", "0.01s", "nonFatalStatusCodes", List.of("UNAVAILABLE"));
        start(
                stuck,
                builder -> builder.enableRetry()
                        .defaultServiceConfig(Map.of(
                                "methodConfig",
                                List.of(Map.of(
                                        "name", List.of(Map.of("service", "test.Bytes")), "hedgingPolicy", hedging)))));
        assertThat(ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, patient, HELLO))
                .isEqualTo(HELLO);
        assertThat(stuck.calls).hasValue(2);
        Await.latch(stuck.cancelled);
    }

    @Test
    void shouldServeBlockingV2Stubs() throws Exception {
        start(new Passing(), builder -> builder);
        assertThat(ClientCalls.blockingV2UnaryCall(channel, BytesService.ECHO, patient, HELLO))
                .isEqualTo(HELLO);
        BlockingClientCall<byte[], byte[]> chat =
                ClientCalls.blockingBidiStreamingCall(channel, BytesService.CHAT, patient);
        for (int i = 0; i < CALLS; i++) {
            assertThat(chat.write(new byte[i])).isTrue();
            assertThat(chat.read(100, TimeUnit.SECONDS)).hasSize(i);
        }
        chat.halfClose();
        assertThat(chat.read(100, TimeUnit.SECONDS)).isNull();
        assertThatThrownBy(() -> ClientCalls.blockingV2UnaryCall(
                        channel,
                        BytesService.HOLD,
                        CallOptions.DEFAULT.withDeadlineAfter(20, TimeUnit.MILLISECONDS),
                        HELLO))
                .isInstanceOf(StatusException.class)
                .hasMessageContaining("DEADLINE_EXCEEDED");
    }

    @Test
    void shouldRunOnVirtualThreads() throws Exception {
        AtomicInteger virtual = new AtomicInteger();
        ServerInterceptor counting = new ServerInterceptor() {
            @Override
            public <Q, A> ServerCall.Listener<Q> interceptCall(
                    ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
                if (Thread.currentThread().isVirtual()) {
                    virtual.incrementAndGet();
                }
                return next.startCall(call, headers);
            }
        };
        try (ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor()) {
            server = RackcallServerBuilder.forAddress(address())
                    .addService(new BytesService())
                    .intercept(counting)
                    .executor(threads)
                    .build()
                    .start();
            channel = RackcallChannelBuilder.forAddress(address())
                    .executor(threads)
                    .build();
            List<byte[]> answers = Concurrently.call(
                    4,
                    thread -> threads.submit(() -> {
                                byte[] last = {};
                                for (int i = 0; i < CALLS; i++) {
                                    last = ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, patient, HELLO);
                                }
                                return last;
                            })
                            .get(100, TimeUnit.SECONDS));
            assertThat(answers)
                    .hasSize(4)
                    .allSatisfy(answer -> assertThat(answer).isEqualTo(HELLO));
            assertThat(virtual).hasValue(4 * CALLS);
            channel.shutdownNow();
            server.shutdownNow();
            assertThat(server.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void shouldPassMetadataThroughInterceptorsOfBothSides() throws Exception {
        AtomicReference<Metadata> headers = new AtomicReference<>();
        AtomicReference<Metadata> trailers = new AtomicReference<>();
        Metadata sent = new Metadata();
        sent.put(WORD, "one");
        sent.put(WORD, "two");
        start(
                new Answering(),
                builder -> builder.intercept(
                        MetadataUtils.newAttachHeadersInterceptor(sent),
                        MetadataUtils.newCaptureMetadataInterceptor(headers, trailers)));
        ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, patient, HELLO);
        assertThat(headers.get().getAll(WORD)).containsExactly("one!", "two!");
        assertThat(trailers.get().getAll(WORD)).containsExactly("one?", "two?");
    }

    /** A token that was read from a file often ends in a line feed, which no header may have. */
    @Test
    void shouldLeaveOutAHeaderThatIsNoText() throws Exception {
        AtomicReference<Metadata> headers = new AtomicReference<>();
        Metadata word = new Metadata();
        word.put(WORD, "one");
        Metadata token = new Metadata();
        token.put(Metadata.Key.of("token", Metadata.ASCII_STRING_MARSHALLER), "secret\n");
        start(
                new Answering(),
                builder -> builder.intercept(
                        MetadataUtils.newAttachHeadersInterceptor(word),
                        MetadataUtils.newCaptureMetadataInterceptor(headers, new AtomicReference<>())));
        BlockingClientCall<byte[], byte[]> chat =
                ClientCalls.blockingBidiStreamingCall(channel, BytesService.CHAT, patient);
        assertThat(chat.write(HELLO)).isTrue();
        assertThat(chat.read(100, TimeUnit.SECONDS)).isEqualTo(HELLO);
        Channel bad = ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(token));
        assertThat(ClientCalls.blockingUnaryCall(bad, BytesService.ECHO, patient, HELLO))
                .isEqualTo(HELLO);
        assertThat(headers.get().getAll(WORD)).containsExactly("one!");
        assertThat(chat.write(HELLO)).isTrue();
        assertThat(chat.read(100, TimeUnit.SECONDS)).isEqualTo(HELLO);
        chat.halfClose();
    }

    /** A server that calls on passes on what is left of its caller's deadline, and its caller's cancellation. */
    @Test
    void shouldPropagateDeadlineAndCancellationToCallsOfTheHandler() throws Exception {
        AtomicReference<Deadline> seen = new AtomicReference<>();
        ServerInterceptor noting = new ServerInterceptor() {
            @Override
            public <Q, A> ServerCall.Listener<Q> interceptCall(
                    ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
                seen.set(Context.current().getDeadline());
                return next.startCall(call, headers);
            }
        };
        start(noting, builder -> builder);
        ScheduledExecutorService timers = Executors.newSingleThreadScheduledExecutor();
        try (Context.CancellableContext bounded =
                Context.current().withDeadline(Deadline.after(1000, TimeUnit.SECONDS), timers)) {
            bounded.call(() -> ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, CallOptions.DEFAULT, HELLO));
            assertThat(seen.get().timeRemaining(TimeUnit.SECONDS)).isBetween(1L, 1000L);
            bounded.cancel(null);
            assertThatThrownBy(() -> bounded.call(() ->
                            ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, CallOptions.DEFAULT, HELLO)))
                    .hasMessageContaining("CANCELLED");
        } finally {
            timers.shutdownNow();
        }
    }
}
