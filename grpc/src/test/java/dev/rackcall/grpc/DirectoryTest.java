package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.directory.DirectoryOptions;
import dev.rackcall.directory.DirectoryStore;
import dev.rackcall.directory.Endpoint;
import dev.rackcall.directory.StoreProvider;
import dev.rackcall.rpc.Peer;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import io.grpc.CallOptions;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.stub.ClientCalls;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ServiceConfigurationError;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Channels that find their servers in a directory. The runtime folders of the servers are not the client's. */
class DirectoryTest {
    private static final String CHANNEL = "/test/named";
    private static final URI ANY_PORT = URI.create("rdma://127.0.0.1:0");
    private static final byte[] HELLO = "hello".getBytes(StandardCharsets.UTF_8);

    @TempDir
    private Path folder;

    private URI names;
    private ManagedChannel channel;
    private Server first;
    private Server second;

    @BeforeEach
    void start() throws Exception {
        names = folder.resolve("names").toUri();
        first = serve("first");
        channel = RackcallChannelBuilder.forDirectory(CHANNEL, names).build();
    }

    private Server serve(String host) throws Exception {
        return RackcallServerBuilder.forAddress(RackcallSocketAddress.of(CHANNEL, folder.resolve(host)))
                .addService(new BytesService())
                .listen(ANY_PORT)
                .directory(names)
                .build()
                .start();
    }

    @AfterEach
    void stop() throws InterruptedException {
        channel.shutdownNow();
        assertThat(channel.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
        for (Server each : new Server[] {first, second}) {
            if (each != null) {
                each.shutdownNow();
                assertThat(each.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
            }
        }
        // A server that ends does not wait long for the withdrawal of its entry, which writes into this folder.
        Await.deleted(Path.of(names));
    }

    @Test
    void shouldPreferMemory() throws Exception {
        stopFirst();
        AtomicReference<Peer> peer = new AtomicReference<>();
        second = RackcallServerBuilder.forChannel(CHANNEL)
                .addService(new BytesService())
                .intercept(new ServerInterceptor() {
                    @Override
                    public <Q, A> ServerCall.Listener<Q> interceptCall(
                            ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
                        peer.set(call.getAttributes().get(RackcallAttributes.PEER));
                        return next.startCall(call, headers);
                    }
                })
                .listen(ANY_PORT)
                .directory(names)
                .build()
                .start();
        assertThat(echo()).isEqualTo(HELLO);
        assertThat(peer.get().pid()).isEqualTo((int) ProcessHandle.current().pid());
    }

    /** Servers draw their ids in their folders only. */
    @Test
    void shouldTellServersOfTheSameIdApart() throws Exception {
        String mark = DirectoryEntry.mark(folder, "grpcaa");
        String other = DirectoryEntry.mark(Files.createDirectory(folder.resolve("other")), "grpcaa");
        Endpoint here = DirectoryEntry.endpoint(mark);
        assertThat(DirectoryEntry.isOf(here, mark)).isTrue();
        assertThat(DirectoryEntry.isOf(here, other)).isFalse();
        assertThat(DirectoryEntry.isOf(Endpoint.of(here.id(), "elsewhere", 0), mark))
                .isFalse();
        assertThat(DirectoryEntry.endpoint(mark).id()).isNotEqualTo(here.id());
    }

    /** A store whose class or library is missing. */
    public static final class BrokenStore implements StoreProvider {
        static final AtomicInteger opened = new AtomicInteger();

        @Override
        public String scheme() {
            return "broken";
        }

        @Override
        public DirectoryStore open(URI address, DirectoryOptions options) {
            opened.incrementAndGet();
            throw new ServiceConfigurationError("a part is missing");
        }
    }

    @Test
    void shouldSayThatADirectoryFailsAndTryAgain() throws Exception {
        ManagedChannel lost = RackcallChannelBuilder.forDirectory(CHANNEL, URI.create("broken:store"))
                .build();
        try {
            assertThatThrownBy(() -> ClientCalls.blockingUnaryCall(lost, BytesService.ECHO, CallOptions.DEFAULT, HELLO))
                    .hasMessageContaining("a part is missing");
            Await.until("the next attempt", () -> BrokenStore.opened.get() > 1);
        } finally {
            lost.shutdownNow();
        }
    }

    private byte[] echo() {
        return ClientCalls.blockingUnaryCall(
                channel,
                BytesService.ECHO,
                CallOptions.DEFAULT.withWaitForReady().withDeadlineAfter(100, TimeUnit.SECONDS),
                HELLO);
    }

    private void stopFirst() throws InterruptedException {
        first.shutdown();
        assertThat(first.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldFollowAServerToItsSuccessor() throws Exception {
        assertThat(echo()).isEqualTo(HELLO);
        stopFirst();
        second = serve("second");
        assertThat(echo()).isEqualTo(HELLO);
    }

    @Test
    void shouldLeaveAKilledServerForAnother() throws Exception {
        stopFirst();
        try (ChildJvm child = ChildJvm.start(BytesProcess.class, folder, "serve", CHANNEL, ANY_PORT, names)) {
            child.awaitLine("serving");
            assertThat(echo()).isEqualTo(HELLO);
            second = serve("second");
            child.kill();
            Await.until("the end of the connection", () -> {
                try {
                    echo();
                    return true;
                } catch (RuntimeException e) {
                    assertThat(Status.fromThrowable(e).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
                    return false;
                }
            });
        }
    }

    @Test
    void shouldSayThatNoServerIsAnnounced() throws Exception {
        stopFirst();
        Await.until("its failure", () -> channel.getState(true) == ConnectivityState.TRANSIENT_FAILURE);
        // A server that ends waits only a moment for its entry to be withdrawn.
        Await.until("the withdrawal of the entry", () -> {
            try {
                ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, CallOptions.DEFAULT, HELLO);
                return false;
            } catch (RuntimeException e) {
                return String.valueOf(e.getMessage()).contains("no gRPC server of channel");
            }
        });
        assertThatThrownBy(() -> ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, CallOptions.DEFAULT, HELLO))
                .satisfies(failure -> {
                    assertThat(Status.fromThrowable(failure).getCode()).isEqualTo(Status.Code.UNAVAILABLE);
                    assertThat(failure).hasMessageContaining("no gRPC server of channel " + CHANNEL);
                });
    }
}
