package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.common.util.concurrent.ListenableFuture;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.FreePort;
import io.grpc.CallOptions;
import io.grpc.ChannelCredentials;
import io.grpc.ConnectivityState;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.InsecureServerCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.NameResolver;
import io.grpc.NameResolverProvider;
import io.grpc.NameResolverRegistry;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerCredentials;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.TlsChannelCredentials;
import io.grpc.TlsServerCredentials;
import io.grpc.stub.ClientCalls;
import io.grpc.testing.TlsTesting;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Channels whose service grpc-java's own server serves over HTTP/2, too. */
class FallbackTest {
    private static final String CHANNEL = "/test/fallback";
    private static final byte[] HELLO = {1, 2, 3};
    private static final CallOptions PATIENT = CallOptions.DEFAULT.withWaitForReady();
    private static final int CALLS = 20;

    @TempDir
    private Path folder;

    private final ConcurrentLinkedQueue<Counting> servers = new ConcurrentLinkedQueue<>();
    private ManagedChannel channel;

    /** A server that counts its calls. */
    private final class Counting implements ServerInterceptor {
        private final BytesService service = new BytesService();
        private final AtomicInteger calls = new AtomicInteger();
        private final AtomicReference<String> authority = new AtomicReference<>();
        private final Server server;

        Counting(ServerBuilder<?> builder) throws IOException {
            server = builder.addService(service).intercept(this).build().start();
            servers.add(this);
        }

        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            authority.set(call.getAuthority());
            calls.incrementAndGet();
            return next.startCall(call, headers);
        }

        String target() {
            return "dns:///127.0.0.1:" + server.getPort();
        }

        void end() throws InterruptedException {
            server.shutdown();
            assertThat(server.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
        }
    }

    private Counting overHttp(ServerCredentials credentials) throws IOException {
        return new Counting(Grpc.newServerBuilderForPort(0, credentials));
    }

    private Counting overHttp() throws IOException {
        return overHttp(InsecureServerCredentials.create());
    }

    private RackcallSocketAddress address() {
        return RackcallSocketAddress.of(CHANNEL, folder);
    }

    private Counting inMemory() throws IOException {
        return new Counting(RackcallServerBuilder.forAddress(address()));
    }

    private void connect(String fallback, ChannelCredentials credentials) {
        channel = Grpc.newChannelBuilder(address().target() + "&fallback=" + fallback, credentials)
                .build();
    }

    private void connect(String fallback) {
        connect(fallback, InsecureChannelCredentials.create());
    }

    private void call() {
        assertThat(ClientCalls.blockingUnaryCall(
                        channel, BytesService.ECHO, PATIENT.withDeadlineAfter(100, TimeUnit.SECONDS), HELLO))
                .isEqualTo(HELLO);
    }

    private void awaitCallsAt(Counting server) {
        int before = server.calls.get();
        Await.until("calls at this server", () -> {
            call();
            return server.calls.get() > before;
        });
    }

    /** A call that its server answers when the test lets it go. */
    private record Held(Counting server, ListenableFuture<byte[]> answer) {
        void letGo() throws Exception {
            server.service.letGo.release();
            assertThat(answer.get(100, TimeUnit.SECONDS)).isEqualTo(HELLO);
        }
    }

    /** Begins a call at the server that gets the channel's new calls. */
    private Held holdAt(Counting server) throws InterruptedException {
        ListenableFuture<byte[]> answer =
                ClientCalls.futureUnaryCall(channel.newCall(BytesService.HOLD, PATIENT), HELLO);
        server.service.held.acquire();
        return new Held(server, answer);
    }

    private record Both(Held overHttp, Held inMemory) {}

    private Both holdAtBoth() throws Exception {
        Counting http = overHttp();
        connect(http.target());
        Held overHttp = holdAt(http);
        Counting memory = inMemory();
        awaitCallsAt(memory);
        return new Both(overHttp, holdAt(memory));
    }

    private void shutDown() throws InterruptedException {
        channel.shutdown();
        assertThat(channel.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
    }

    @AfterEach
    void stop() throws InterruptedException {
        channel.shutdownNow();
        assertThat(channel.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
        for (Counting each : servers) {
            each.server.shutdownNow();
            assertThat(each.server.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
        }
        Await.deleted(folder.resolve("names"));
    }

    @Test
    void shouldUseMemoryWhileThereIsAServer() throws Exception {
        Counting http = overHttp();
        connect(http.target());
        assertThat(channel.getState(false)).isEqualTo(ConnectivityState.IDLE);
        call();
        assertThat(http.calls.get()).isEqualTo(1);
        Await.equal("the state", ConnectivityState.READY, () -> channel.getState(false));
        Held atHttp = holdAt(http);
        Counting memory = inMemory();
        awaitCallsAt(memory);
        int before = http.calls.get();
        for (int i = 0; i < CALLS; i++) {
            call();
        }
        assertThat(http.calls.get()).isEqualTo(before);
        // Calls stay where they are.
        assertThat(atHttp.answer.isDone()).isFalse();
        atHttp.letGo();
        Held inMemory = holdAt(memory);
        memory.server.shutdown();
        awaitCallsAt(http);
        inMemory.letGo();
        assertThat(channel.authority()).isEqualTo("127.0.0.1:" + http.server.getPort());
        assertThat(List.of(http.authority.get(), memory.authority.get())).containsOnly(channel.authority());
        shutDown();
        assertThat(channel.isTerminated()).isTrue();
        assertThat(channel.getState(true)).isEqualTo(ConnectivityState.SHUTDOWN);
        // Their connections have ended as well.
        http.end();
        memory.end();
    }

    @Test
    void shouldLoseNoCallWhileServersComeAndGo() throws Exception {
        Counting http = overHttp();
        connect(http.target());
        AtomicReference<Throwable> why = new AtomicReference<>();
        AtomicBoolean ends = new AtomicBoolean();
        Thread caller = Thread.ofPlatform().start(() -> {
            while (!ends.get() && why.get() == null) {
                try {
                    call();
                } catch (StatusRuntimeException e) {
                    why.set(e);
                }
            }
        });
        try {
            for (int i = 0; i < 3; i++) {
                int before = http.calls.get();
                Await.until("calls over HTTP/2", () -> why.get() != null || http.calls.get() > before + CALLS);
                Counting memory = inMemory();
                Await.until("calls in memory", () -> why.get() != null || memory.calls.get() > CALLS);
                memory.end();
            }
        } finally {
            ends.set(true);
            caller.join();
        }
        assertThat(why.get()).isNull();
    }

    /** Such as the ones of a channel that is shut down with calls at both. */
    @Test
    void shouldEndWithTheLastCallOfBoth() throws Exception {
        Both calls = holdAtBoth();
        channel.shutdown();
        calls.inMemory.letGo();
        assertThat(channel.isTerminated()).isFalse();
        calls.overHttp.letGo();
        assertThat(channel.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldCancelTheCallsOfBoth() throws Exception {
        Both calls = holdAtBoth();
        channel.shutdownNow();
        assertThat(channel.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
        for (Held each : List.of(calls.overHttp, calls.inMemory)) {
            assertThatThrownBy(() -> each.answer.get(100, TimeUnit.SECONDS)).hasMessageContaining("UNAVAILABLE");
        }
    }

    @Test
    void shouldFailWithoutEitherAndServeWaitingCallsInMemory() throws Exception {
        int closed = FreePort.find();
        connect("dns:///127.0.0.1:" + closed);
        assertThatThrownBy(() -> ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, CallOptions.DEFAULT, HELLO))
                .satisfies(failure ->
                        assertThat(Status.fromThrowable(failure).getCode()).isEqualTo(Status.Code.UNAVAILABLE))
                .hasStackTraceContaining("127.0.0.1:" + closed);
        // gRPC ends calls before it changes the channel's state.
        Await.equal("the state", ConnectivityState.TRANSIENT_FAILURE, () -> channel.getState(false));
        ListenableFuture<byte[]> waiting =
                ClientCalls.futureUnaryCall(channel.newCall(BytesService.ECHO, PATIENT), HELLO);
        Counting memory = inMemory();
        assertThat(waiting.get(100, TimeUnit.SECONDS)).isEqualTo(HELLO);
        assertThat(memory.calls.get()).isEqualTo(1);
        Await.equal("the state", ConnectivityState.READY, () -> channel.getState(false));
    }

    /** A fallback of the scheme {@code spoken}, with an authority that the test certificate has. */
    private static final class SpokenProvider extends NameResolverProvider {
        private static final String AUTHORITY = "foo.test.google.fr";

        private final SpokenResolver resolver = new SpokenResolver(AUTHORITY);

        @Override
        protected boolean isAvailable() {
            return true;
        }

        @Override
        protected int priority() {
            return 5;
        }

        @Override
        public String getDefaultScheme() {
            return "spoken";
        }

        @Override
        public Collection<Class<? extends SocketAddress>> getProducedSocketAddressTypes() {
            return List.of(InetSocketAddress.class);
        }

        @Override
        public NameResolver newNameResolver(URI target, NameResolver.Args args) {
            return resolver;
        }
    }

    @Test
    void shouldProveTheFallbacksNameByTls() throws Exception {
        Counting http = overHttp(
                TlsServerCredentials.create(TlsTesting.loadCert("server1.pem"), TlsTesting.loadCert("server1.key")));
        ChannelCredentials credentials = TlsChannelCredentials.newBuilder()
                .trustManager(TlsTesting.loadCert("ca.pem"))
                .build();
        // The certificate does not have this address.
        connect(http.target(), credentials);
        assertThatThrownBy(() -> ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, CallOptions.DEFAULT, HELLO))
                .satisfies(failure ->
                        assertThat(Status.fromThrowable(failure).getCode()).isEqualTo(Status.Code.UNAVAILABLE));
        shutDown();
        SpokenProvider provider = new SpokenProvider();
        NameResolverRegistry.getDefaultRegistry().register(provider);
        try {
            connect("spoken:///cart", credentials);
            ListenableFuture<byte[]> waiting =
                    ClientCalls.futureUnaryCall(channel.newCall(BytesService.ECHO, PATIENT), HELLO);
            Await.until("the start of the resolver", () -> provider.resolver.listener != null);
            provider.resolver.finds(new InetSocketAddress(InetAddress.getLoopbackAddress(), http.server.getPort()));
            assertThat(waiting.get(100, TimeUnit.SECONDS)).isEqualTo(HELLO);
            assertThat(http.authority.get()).isEqualTo(SpokenProvider.AUTHORITY);
            awaitCallsAt(inMemory());
            shutDown();
            assertThat(provider.resolver.hasEnded).isTrue();
        } finally {
            NameResolverRegistry.getDefaultRegistry().deregister(provider);
        }
    }

    @Test
    void shouldUseTlsUnlessPlaintextIsAskedFor() throws Exception {
        Counting http = overHttp();
        channel = RackcallChannelBuilder.forAddress(address())
                .fallback(http.target())
                .build();
        assertThatThrownBy(() -> ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, CallOptions.DEFAULT, HELLO))
                .satisfies(failure ->
                        assertThat(Status.fromThrowable(failure).getCode()).isEqualTo(Status.Code.UNAVAILABLE));
        assertThat(http.calls.get()).isZero();
        shutDown();
        channel = RackcallChannelBuilder.forAddress(address())
                .fallback(http.target())
                .usePlaintext()
                .keepAliveTime(1, TimeUnit.HOURS)
                .build();
        awaitCallsAt(http);
    }

    @Test
    void shouldLimitMessagesOfBoth() throws Exception {
        Counting http = overHttp();
        channel = RackcallChannelBuilder.forAddress(address())
                .fallback(http.target())
                .usePlaintext()
                .maxInboundMessageSize(HELLO.length - 1)
                .build();
        expectTooLarge();
        inMemory();
        Await.until("a call in memory", () -> {
            expectTooLarge();
            return servers.stream().allMatch(each -> each.calls.get() > 0);
        });
    }

    private void expectTooLarge() {
        assertThatThrownBy(() -> ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, PATIENT, HELLO))
                .satisfies(failure ->
                        assertThat(Status.fromThrowable(failure).getCode()).isEqualTo(Status.Code.RESOURCE_EXHAUSTED));
    }

    private static long directoryThreads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(each -> each.getName().startsWith("rackcall-directory"))
                .count();
    }

    /** A server that channels find by a directory only. */
    private Counting announced(URI names) throws IOException {
        return new Counting(
                RackcallServerBuilder.forAddress(RackcallSocketAddress.of(CHANNEL, folder.resolve("elsewhere")))
                        .listen(URI.create("rdma://127.0.0.1:0"))
                        .directory(names));
    }

    @Test
    void shouldNotFallBackBeforeItHasLookedForServers() throws Exception {
        Counting http = overHttp();
        URI names = folder.resolve("names").toUri();
        inMemory();
        announced(names);
        connect(http.target());
        call();
        shutDown();
        channel = RackcallChannelBuilder.forDirectory(CHANNEL, names)
                .fallback(http.target())
                .usePlaintext()
                .build();
        call();
        assertThat(http.calls.get()).isZero();
    }

    @Test
    void shouldFollowADirectory() throws Exception {
        Counting http = overHttp();
        URI names = folder.resolve("names").toUri();
        long threads = directoryThreads();
        channel = RackcallChannelBuilder.forDirectory(CHANNEL, names)
                .fallback(http.target())
                .usePlaintext()
                .build();
        awaitCallsAt(http);
        // An idle channel follows nothing.
        channel.enterIdle();
        Await.until("the end of the directory", () -> directoryThreads() <= threads);
        awaitCallsAt(http);
        Counting remote = announced(names);
        awaitCallsAt(remote);
        remote.end();
        awaitCallsAt(http);
        shutDown();
        Await.until("the end of the directory", () -> directoryThreads() <= threads);
    }

    @Test
    void shouldFallBackWhileTheDirectoryFailsAndTryItAgain() throws Exception {
        Counting http = overHttp();
        int before = DirectoryTest.BrokenStore.opened.get();
        channel = RackcallChannelBuilder.forDirectory(CHANNEL, URI.create("broken:store"))
                .fallback(http.target())
                .usePlaintext()
                .build();
        awaitCallsAt(http);
        Await.until("the next attempt", () -> DirectoryTest.BrokenStore.opened.get() > before + 1);
    }
}
