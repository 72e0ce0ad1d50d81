package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.util.concurrent.ListenableFuture;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import io.grpc.Attributes;
import io.grpc.CallCredentials;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ChannelCredentials;
import io.grpc.ClientInterceptors;
import io.grpc.ClientTransportFilter;
import io.grpc.CompositeChannelCredentials;
import io.grpc.Context;
import io.grpc.ForwardingServerCallListener.SimpleForwardingServerCallListener;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.SecurityLevel;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.ServerStreamTracer;
import io.grpc.ServerTransportFilter;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import io.grpc.health.v1.HealthCheckRequest;
import io.grpc.health.v1.HealthCheckResponse;
import io.grpc.health.v1.HealthGrpc;
import io.grpc.internal.GrpcAttributes;
import io.grpc.internal.GrpcUtil;
import io.grpc.protobuf.services.HealthStatusManager;
import io.grpc.protobuf.services.ProtoReflectionServiceV1;
import io.grpc.reflection.v1.ServerReflectionGrpc;
import io.grpc.reflection.v1.ServerReflectionRequest;
import io.grpc.reflection.v1.ServerReflectionResponse;
import io.grpc.stub.ClientCalls;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the interoperability suite does not ask: other processes, deaths, draining, names, and gRPC's own services. */
class RackcallChannelTest {
    private static final String CHANNEL = "/test/bytes";
    private static final Metadata.Key<String> WORDS = Metadata.Key.of("words", Metadata.ASCII_STRING_MARSHALLER);
    private static final byte[] HELLO = "hello".getBytes(StandardCharsets.UTF_8);

    @TempDir
    private Path directory;

    private final BytesService service = new BytesService();
    private Server server;
    private ManagedChannel channel;

    private RackcallServerBuilder serverBuilder() {
        return RackcallServerBuilder.forAddress(RackcallSocketAddress.of(CHANNEL, directory))
                .addService(service);
    }

    private ManagedChannel connect() {
        return RackcallChannelBuilder.forAddress(RackcallSocketAddress.of(CHANNEL, directory))
                .build();
    }

    private void start() throws IOException {
        server = serverBuilder().build().start();
        channel = connect();
    }

    @AfterEach
    void stop() throws InterruptedException {
        if (channel != null) {
            channel.shutdownNow();
            assertThat(channel.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
        }
        if (server != null) {
            service.letGo.release(1000);
            server.shutdownNow();
            assertThat(server.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
        }
    }

    private static byte[] echo(ManagedChannel channel, byte[] value) {
        return ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, CallOptions.DEFAULT, value);
    }

    private static ListenableFuture<byte[]> hold(ManagedChannel channel) {
        return ClientCalls.futureUnaryCall(channel.newCall(BytesService.HOLD, CallOptions.DEFAULT), HELLO);
    }

    private static Status statusOf(ListenableFuture<?> call) throws Exception {
        try {
            call.get(100, TimeUnit.SECONDS);
            return Status.OK;
        } catch (ExecutionException e) {
            return Status.fromThrowable(e);
        }
    }

    // ---- several processes

    @Test
    void shouldCallAServerInAnotherProcess() throws Exception {
        try (ChildJvm child = ChildJvm.start(BytesProcess.class, directory, "serve", CHANNEL)) {
            child.awaitLine("serving");
            channel = connect();
            assertThat(echo(channel, HELLO)).isEqualTo(HELLO);
            byte[] large = new byte[3_000_000];
            Arrays.fill(large, (byte) 7);
            assertThat(echo(channel, large)).isEqualTo(large);
            BlockingQueue<byte[]> answers = new LinkedBlockingQueue<>();
            StreamObserver<byte[]> requests = chat(channel, answers);
            for (int i = 0; i < 200; i++) {
                requests.onNext(new byte[i]);
                assertThat(answers.poll(100, TimeUnit.SECONDS)).hasSize(i);
            }
            requests.onCompleted();
        }
    }

    /** Requests that do not fit into the pipe, of callers that receive by themselves. */
    @Test
    void shouldSendLargeRequestsOfBlockingCalls() throws Exception {
        start();
        byte[] large = new byte[1 << 20];
        Arrays.fill(large, (byte) 7);
        for (int i = 0; i < 50; i++) {
            assertThat(ClientCalls.blockingUnaryCall(
                            channel,
                            BytesService.ECHO,
                            CallOptions.DEFAULT.withDeadlineAfter(100, TimeUnit.SECONDS),
                            large))
                    .isEqualTo(large);
        }
    }

    /** Calls that wait for room have no number yet, so that later ones may be written before them. */
    @Test
    void shouldBeginMoreCallsThanThePipeHasRoomFor() throws Exception {
        start();
        List<ListenableFuture<byte[]>> calls = new ArrayList<>();
        for (int i = 0; i < 5000; i++) {
            calls.add(ClientCalls.futureUnaryCall(
                    channel.newCall(BytesService.ECHO, CallOptions.DEFAULT), new byte[i % 1000]));
        }
        for (int i = 0; i < calls.size(); i++) {
            assertThat(calls.get(i).get(100, TimeUnit.SECONDS)).hasSize(i % 1000);
        }
    }

    private static StreamObserver<byte[]> chat(ManagedChannel channel, BlockingQueue<byte[]> answers) {
        return ClientCalls.asyncBidiStreamingCall(
                channel.newCall(BytesService.CHAT, CallOptions.DEFAULT), new StreamObserver<>() {
                    @Override
                    public void onNext(byte[] value) {
                        answers.add(value);
                    }

                    @Override
                    public void onError(Throwable failure) {
                        answers.add(new byte[0]);
                    }

                    @Override
                    public void onCompleted() {}
                });
    }

    @Test
    void shouldFailCallsOfAKilledServerAndFindItsSuccessor() throws Exception {
        try (ChildJvm child = ChildJvm.start(BytesProcess.class, directory, "serve", CHANNEL)) {
            child.awaitLine("serving");
            channel = connect();
            echo(channel, HELLO);
            ListenableFuture<byte[]> held = hold(channel);
            echo(channel, HELLO);
            child.kill();
            assertThat(statusOf(held).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
        }
        server = serverBuilder().build().start();
        assertThat(ClientCalls.blockingUnaryCall(
                        channel, BytesService.ECHO, CallOptions.DEFAULT.withWaitForReady(), HELLO))
                .isEqualTo(HELLO);
    }

    @Test
    void shouldCancelTheCallsOfAKilledClientOnly() throws Exception {
        start();
        try (ChildJvm child = ChildJvm.start(BytesProcess.class, directory, "hold", CHANNEL)) {
            assertThat(service.held.tryAcquire(100, TimeUnit.SECONDS)).isTrue();
            ListenableFuture<byte[]> mine = hold(channel);
            assertThat(service.held.tryAcquire(100, TimeUnit.SECONDS)).isTrue();
            child.kill();
            Await.latch(service.cancelled);
            service.letGo.release(2);
            assertThat(mine.get(100, TimeUnit.SECONDS)).isEqualTo(HELLO);
        }
    }

    // ---- draining

    @Test
    void shouldEndCallsUnderWayWhenTheServerDrains() throws Exception {
        start();
        ListenableFuture<byte[]> held = hold(channel);
        assertThat(service.held.tryAcquire(100, TimeUnit.SECONDS)).isTrue();
        server.shutdown();
        service.letGo.release();
        assertThat(held.get(100, TimeUnit.SECONDS)).isEqualTo(HELLO);
        assertThat(server.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
        assertThatThrownBy(() -> echo(channel, HELLO))
                .isInstanceOf(StatusRuntimeException.class)
                .hasMessageContaining("UNAVAILABLE");
    }

    /** Calls that a draining server has not accepted are retried by gRPC itself. */
    @Test
    void shouldLoseNoCallWhileServersReplaceEachOther() throws Exception {
        start();
        AtomicInteger failed = new AtomicInteger();
        AtomicInteger answered = new AtomicInteger();
        AtomicReference<Throwable> why = new AtomicReference<>();
        Thread caller = Thread.ofPlatform().start(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                try {
                    ClientCalls.blockingUnaryCall(
                            channel,
                            BytesService.ECHO,
                            CallOptions.DEFAULT.withWaitForReady().withDeadlineAfter(100, TimeUnit.SECONDS),
                            HELLO);
                    answered.incrementAndGet();
                } catch (StatusRuntimeException e) {
                    if (e.getStatus().getCode() != Status.Code.CANCELLED) {
                        failed.incrementAndGet();
                        why.set(e);
                    }
                }
            }
        });
        for (int i = 0; i < 5; i++) {
            int before = answered.get();
            Await.until("calls at the next server", () -> answered.get() > before + 20);
            server.shutdown();
            assertThat(server.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
            server = serverBuilder().build().start();
        }
        caller.interrupt();
        caller.join();
        assertThat(why.get()).isNull();
        assertThat(failed).hasValue(0);
    }

    // ---- code of the application that fails

    @Test
    void shouldEndAServerWhoseTransportFilterFails() throws Exception {
        server = serverBuilder()
                .addTransportFilter(new ServerTransportFilter() {
                    @Override
                    public Attributes transportReady(Attributes attributes) {
                        throw new IllegalStateException("planted");
                    }
                })
                .build()
                .start();
        channel = connect();
        assertThatThrownBy(() -> echo(channel, HELLO)).hasMessageContaining("UNAVAILABLE");
        server.shutdown();
        assertThat(server.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldFailCallsOfAChannelWhoseTransportFilterFails() throws Exception {
        server = serverBuilder().build().start();
        channel = RackcallChannelBuilder.forAddress(RackcallSocketAddress.of(CHANNEL, directory))
                .addTransportFilter(new ClientTransportFilter() {
                    @Override
                    public Attributes transportReady(Attributes attributes) {
                        throw new IllegalStateException("planted");
                    }
                })
                .build();
        assertThatThrownBy(() -> ClientCalls.blockingUnaryCall(
                        channel,
                        BytesService.ECHO,
                        CallOptions.DEFAULT.withDeadlineAfter(100, TimeUnit.SECONDS),
                        HELLO))
                .hasMessageContaining("UNAVAILABLE")
                .hasMessageContaining("planted");
    }

    @Test
    void shouldEndOnlyTheCallWhoseTracerFails() throws Exception {
        server = serverBuilder()
                .addStreamTracerFactory(new ServerStreamTracer.Factory() {
                    @Override
                    public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
                        if (method.equals(BytesService.ECHO.getFullMethodName())) {
                            throw new IllegalStateException("planted");
                        }
                        return new ServerStreamTracer() {};
                    }
                })
                .build()
                .start();
        channel = connect();
        ListenableFuture<byte[]> held = hold(channel);
        assertThat(service.held.tryAcquire(100, TimeUnit.SECONDS)).isTrue();
        assertThatThrownBy(() -> echo(channel, HELLO)).hasMessageContaining("INTERNAL");
        service.letGo.release();
        assertThat(held.get(100, TimeUnit.SECONDS)).isEqualTo(HELLO);
    }

    @Test
    void shouldTraceTheEndOfACallBeforeTheNextOne() throws Exception {
        Queue<String> traced = new ConcurrentLinkedQueue<>();
        server = serverBuilder()
                .addStreamTracerFactory(new ServerStreamTracer.Factory() {
                    @Override
                    public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
                        traced.add("begins");
                        return new ServerStreamTracer() {
                            @Override
                            public void streamClosed(Status status) {
                                // A client that has its answer makes its next call meanwhile.
                                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
                                traced.add(status.getCode().name());
                            }
                        };
                    }
                })
                .build()
                .start();
        channel = connect();
        List<String> expected = new ArrayList<>();
        Metadata large = new Metadata();
        large.put(WORDS, "x".repeat(2 * GrpcUtil.DEFAULT_MAX_HEADER_LIST_SIZE));
        Channel refused = ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(large));
        MethodDescriptor<byte[], byte[]> unknown = BytesService.ECHO.toBuilder()
                .setFullMethodName("test.Bytes/Unknown")
                .build();
        for (int i = 0; i < 100; i++) {
            assertThat(echo(channel, HELLO)).isEqualTo(HELLO);
            expected.addAll(List.of("begins", "OK"));
            assertThatThrownBy(() -> ClientCalls.blockingUnaryCall(channel, unknown, CallOptions.DEFAULT, HELLO))
                    .hasMessageContaining("UNIMPLEMENTED");
            expected.addAll(List.of("begins", "UNIMPLEMENTED"));
            assertThatThrownBy(
                            () -> ClientCalls.blockingUnaryCall(refused, BytesService.ECHO, CallOptions.DEFAULT, HELLO))
                    .hasMessageContaining("Request metadata larger than");
            expected.addAll(List.of("begins", "RESOURCE_EXHAUSTED"));
        }
        assertThat(traced).containsExactlyElementsOf(expected);
    }

    @Test
    void shouldAnswerACallWhoseTracerFailsAtItsEnd() throws Exception {
        CountDownLatch completed = new CountDownLatch(1);
        server = serverBuilder()
                .intercept(new ServerInterceptor() {
                    @Override
                    public <Q, R> ServerCall.Listener<Q> interceptCall(
                            ServerCall<Q, R> call, Metadata headers, ServerCallHandler<Q, R> next) {
                        return new SimpleForwardingServerCallListener<>(next.startCall(call, headers)) {
                            @Override
                            public void onComplete() {
                                completed.countDown();
                                super.onComplete();
                            }
                        };
                    }
                })
                .addStreamTracerFactory(new ServerStreamTracer.Factory() {
                    @Override
                    public ServerStreamTracer newServerStreamTracer(String method, Metadata headers) {
                        return new ServerStreamTracer() {
                            @Override
                            public void streamClosed(Status status) {
                                throw new IllegalStateException("planted");
                            }
                        };
                    }
                })
                .build()
                .start();
        channel = connect();
        assertThat(echo(channel, HELLO)).isEqualTo(HELLO);
        assertThat(completed.await(100, TimeUnit.SECONDS)).isTrue();
    }

    // ---- names and attributes

    @Test
    void shouldSayThatNoServerListens() {
        channel = connect();
        assertThatThrownBy(() -> echo(channel, HELLO)).hasMessageContaining("no server has channel " + CHANNEL);
    }

    @Test
    void shouldFindTargetsByScheme() throws Exception {
        String name = "/test/target";
        server = RackcallServerBuilder.forChannel(name)
                .addService(service)
                .build()
                .start();
        for (ManagedChannelBuilder<?> builder : List.of(
                Grpc.newChannelBuilder("rackcall://" + name, InsecureChannelCredentials.create()),
                RackcallChannelBuilder.forTarget("rackcall://" + name))) {
            ManagedChannel made = builder.build();
            assertThat(echo(made, HELLO)).isEqualTo(HELLO);
            made.shutdownNow();
        }
    }

    /** Sends a word with every call. */
    private static CallCredentials word(String word) {
        return new CallCredentials() {
            @Override
            public void applyRequestMetadata(RequestInfo request, Executor executor, MetadataApplier applier) {
                Metadata headers = new Metadata();
                headers.put(WORDS, word);
                applier.apply(headers);
            }
        };
    }

    @Test
    void shouldSendTheCallCredentialsOfAChannel() throws Exception {
        BlockingQueue<List<String>> words = new LinkedBlockingQueue<>();
        server = serverBuilder()
                .intercept(new ServerInterceptor() {
                    @Override
                    public <Q, A> ServerCall.Listener<Q> interceptCall(
                            ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
                        words.add(StreamSupport.stream(headers.getAll(WORDS).spliterator(), false)
                                .sorted()
                                .toList());
                        return next.startCall(call, headers);
                    }
                })
                .build()
                .start();
        String target = RackcallSocketAddress.of(CHANNEL, directory).target();
        ChannelCredentials one =
                CompositeChannelCredentials.create(InsecureChannelCredentials.create(), word("sesame"));
        channel = Grpc.newChannelBuilder(target, CompositeChannelCredentials.create(one, word("open")))
                .build();
        assertThat(echo(channel, HELLO)).isEqualTo(HELLO);
        assertThat(words.poll(100, TimeUnit.SECONDS)).containsExactly("open", "sesame");
    }

    @Test
    void shouldRefuseCredentialsOfTheTransport() {
        ChannelCredentials tls = CompositeChannelCredentials.create(TlsChannelCredentials.create(), word("open"));
        assertThatThrownBy(() -> Grpc.newChannelBuilder("rackcall:///shop/cart?address=soft://host-a:1", tls))
                .hasMessageContaining("Rackcall takes no TlsChannelCredentials")
                .hasMessageContaining("RdmaSettings.tls serves targets with ?address=");
    }

    @Test
    void shouldTellTheServerWhoCalls() throws Exception {
        AtomicReference<Attributes> seen = new AtomicReference<>();
        server = serverBuilder()
                .intercept(new ServerInterceptor() {
                    @Override
                    public <Q, A> ServerCall.Listener<Q> interceptCall(
                            ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
                        seen.set(call.getAttributes());
                        return next.startCall(call, headers);
                    }
                })
                .build()
                .start();
        channel = connect();
        echo(channel, HELLO);
        assertThat(seen.get().get(RackcallAttributes.PEER).pid())
                .isEqualTo((int) ProcessHandle.current().pid());
        assertThat(seen.get().get(GrpcAttributes.ATTR_SECURITY_LEVEL)).isEqualTo(SecurityLevel.PRIVACY_AND_INTEGRITY);
        SocketAddress local = seen.get().get(Grpc.TRANSPORT_ATTR_LOCAL_ADDR);
        assertThat(local).hasToString("rackcall://" + CHANNEL);
        assertThat(seen.get().get(Grpc.TRANSPORT_ATTR_REMOTE_ADDR).toString())
                .contains("pid " + ProcessHandle.current().pid());
    }

    // ---- gRPC's own features

    @Test
    void shouldPassTheDeadlineOn() throws Exception {
        AtomicReference<Long> millis = new AtomicReference<>();
        server = serverBuilder()
                .intercept(new ServerInterceptor() {
                    @Override
                    public <Q, A> ServerCall.Listener<Q> interceptCall(
                            ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
                        millis.set(Context.current().getDeadline().timeRemaining(TimeUnit.MILLISECONDS));
                        return next.startCall(call, headers);
                    }
                })
                .build()
                .start();
        channel = connect();
        ClientCalls.blockingUnaryCall(
                channel, BytesService.ECHO, CallOptions.DEFAULT.withDeadlineAfter(1000, TimeUnit.SECONDS), HELLO);
        assertThat(millis.get()).isBetween(1L, 1_000_000L);
        assertThatThrownBy(() -> ClientCalls.blockingUnaryCall(
                        channel,
                        BytesService.HOLD,
                        CallOptions.DEFAULT.withDeadlineAfter(20, TimeUnit.MILLISECONDS),
                        HELLO))
                .hasMessageContaining("DEADLINE_EXCEEDED");
    }

    @Test
    void shouldServeHealthAndReflection() throws Exception {
        HealthStatusManager health = new HealthStatusManager();
        server = serverBuilder()
                .addService(health.getHealthService())
                .addService(ProtoReflectionServiceV1.newInstance())
                .build()
                .start();
        channel = connect();
        assertThat(HealthGrpc.newBlockingStub(channel)
                        .check(HealthCheckRequest.getDefaultInstance())
                        .getStatus())
                .isEqualTo(HealthCheckResponse.ServingStatus.SERVING);
        BlockingQueue<ServerReflectionResponse> answers = new LinkedBlockingQueue<>();
        StreamObserver<ServerReflectionRequest> requests = ServerReflectionGrpc.newStub(channel)
                .serverReflectionInfo(new StreamObserver<>() {
                    @Override
                    public void onNext(ServerReflectionResponse value) {
                        answers.add(value);
                    }

                    @Override
                    public void onError(Throwable failure) {}

                    @Override
                    public void onCompleted() {}
                });
        requests.onNext(ServerReflectionRequest.newBuilder().setListServices("").build());
        assertThat(answers.poll(100, TimeUnit.SECONDS).toString()).contains("grpc.health.v1.Health");
        requests.onCompleted();
    }

    @Test
    void shouldRetryByServiceConfig() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        server = serverBuilder()
                .intercept(new ServerInterceptor() {
                    @Override
                    public <Q, A> ServerCall.Listener<Q> interceptCall(
                            ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
                        if (attempts.incrementAndGet() < 3) {
                            call.close(Status.UNAVAILABLE, new Metadata());
                            return new ServerCall.Listener<>() {};
                        }
                        return next.startCall(call, headers);
                    }
                })
                .build()
                .start();
        Map<String, ?> retries = Map.of(
                "maxAttempts",
                4.0,
                "initialBackoff",
                "0.001s",
                "maxBackoff",
                "0.002s",
                "backoffMultiplier",
                1.0,
                "retryableStatusCodes",
                List.of("UNAVAILABLE"));
        channel = RackcallChannelBuilder.forAddress(RackcallSocketAddress.of(CHANNEL, directory))
                .defaultServiceConfig(Map.of(
                        "methodConfig",
                        List.of(Map.of("name", List.of(Map.of("service", "test.Bytes")), "retryPolicy", retries))))
                .build();
        assertThat(echo(channel, HELLO)).isEqualTo(HELLO);
        assertThat(attempts).hasValue(3);
    }
}
