package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.util.concurrent.Futures;
import com.google.common.util.concurrent.ListenableFuture;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Server;
import io.grpc.ServerCall;
import io.grpc.ServerCallHandler;
import io.grpc.ServerInterceptor;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.ClientCalls;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Several servers of one channel on this host, and gRPC's own load balancing. */
class ManyServersTest {
    private static final String CHANNEL = "/test/many";
    private static final byte[] HELLO = {1, 2, 3};
    private static final int CALLS = 20;

    @TempDir
    private Path directory;

    private final List<Counting> servers = new ArrayList<>();
    private ManagedChannel channel;

    /** A server that counts its calls. */
    private static final class Counting implements ServerInterceptor {
        private final AtomicInteger calls = new AtomicInteger();
        private final Server server;

        Counting(RackcallSocketAddress address) throws IOException {
            server = RackcallServerBuilder.forAddress(address)
                    .addService(new BytesService())
                    .intercept(this)
                    .build()
                    .start();
        }

        @Override
        public <Q, A> ServerCall.Listener<Q> interceptCall(
                ServerCall<Q, A> call, Metadata headers, ServerCallHandler<Q, A> next) {
            calls.incrementAndGet();
            return next.startCall(call, headers);
        }
    }

    private RackcallSocketAddress address() {
        return RackcallSocketAddress.of(CHANNEL, directory);
    }

    private Counting serve() throws IOException {
        Counting counting = new Counting(address());
        servers.add(counting);
        return counting;
    }

    private void connect(String policy) {
        channel = RackcallChannelBuilder.forAddress(address())
                .defaultLoadBalancingPolicy(policy)
                .build();
    }

    private void call() {
        CallOptions options = CallOptions.DEFAULT.withWaitForReady().withDeadlineAfter(100, TimeUnit.SECONDS);
        assertThat(ClientCalls.blockingUnaryCall(channel, BytesService.ECHO, options, HELLO))
                .isEqualTo(HELLO);
    }

    @AfterEach
    void stop() throws InterruptedException {
        channel.shutdownNow();
        for (Counting each : servers) {
            each.server.shutdownNow();
            assertThat(each.server.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
        }
    }

    @Test
    void shouldSpreadCallsOverAllServers() throws Exception {
        Counting one = serve();
        Counting other = serve();
        connect("round_robin");
        Await.until("calls at both servers", () -> {
            call();
            return one.calls.get() >= CALLS && other.calls.get() >= CALLS;
        });
    }

    @Test
    void shouldStayWithOneServerByDefault() throws Exception {
        Counting one = serve();
        Counting other = serve();
        connect("pick_first");
        for (int i = 0; i < CALLS; i++) {
            call();
        }
        assertThat(List.of(one.calls.get(), other.calls.get())).containsExactlyInAnyOrder(0, CALLS);
    }

    @Test
    void shouldGoOnWithTheOtherServersAfterOneIsKilled() throws Exception {
        Counting survivor = serve();
        try (ChildJvm child = ChildJvm.start(BytesProcess.class, directory, "serve", CHANNEL)) {
            child.awaitLine("serving");
            connect("round_robin");
            // Each call goes to the next server in turn, so one of the two that are held is the child's.
            Await.until("calls at the child", () -> {
                int before = survivor.calls.get();
                call();
                return survivor.calls.get() == before;
            });
            List<ListenableFuture<byte[]>> held = List.of(hold(), hold());
            call();
            child.kill();
            assertThat(codeOf(Futures.allAsList(held))).isEqualTo(Status.Code.UNAVAILABLE);
        }
        int before = survivor.calls.get();
        AtomicInteger row = new AtomicInteger();
        Await.until("calls in a row at the survivor", () -> {
            try {
                call();
                return row.incrementAndGet() >= CALLS;
            } catch (StatusRuntimeException e) {
                // Sent before the death was noticed.
                row.set(0);
                return false;
            }
        });
        assertThat(survivor.calls.get() - before).isGreaterThanOrEqualTo(CALLS);
    }

    private ListenableFuture<byte[]> hold() {
        return ClientCalls.futureUnaryCall(channel.newCall(BytesService.HOLD, CallOptions.DEFAULT), HELLO);
    }

    private static Status.Code codeOf(ListenableFuture<?> call) throws Exception {
        try {
            call.get(100, TimeUnit.SECONDS);
            return Status.Code.OK;
        } catch (ExecutionException e) {
            return Status.fromThrowable(e).getCode();
        }
    }

    @Test
    void shouldLoseNoCallWhileServersDrainAndOthersStart() throws Exception {
        serve();
        serve();
        connect("round_robin");
        AtomicInteger answered = new AtomicInteger();
        AtomicReference<Throwable> why = new AtomicReference<>();
        Thread caller = Thread.ofPlatform().start(() -> {
            while (!Thread.currentThread().isInterrupted()) {
                try {
                    call();
                    answered.incrementAndGet();
                } catch (StatusRuntimeException e) {
                    if (e.getStatus().getCode() != Status.Code.CANCELLED) {
                        why.set(e);
                    }
                }
            }
        });
        for (int i = 0; i < 3; i++) {
            int before = answered.get();
            Await.until("calls", () -> answered.get() > before + CALLS);
            Counting leaving = servers.removeFirst();
            leaving.server.shutdown();
            assertThat(leaving.server.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
            Counting coming = serve();
            Await.until("calls at the new server", () -> coming.calls.get() > CALLS);
        }
        caller.interrupt();
        caller.join();
        assertThat(why.get()).isNull();
    }
}
