package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.MethodDescriptor;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.shm.protocol.ControlOp;
import dev.rackcall.rpc.spi.ClientCall;
import dev.rackcall.testkit.Await;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A connection that ends while a thread is in the middle of a call is unmapped all the same, by that thread when it has
 * got so far.
 */
class ConnectionEndTest {
    private static final MethodDescriptor METHOD =
            HostileScript.service("/test/echo").methods().getFirst();

    @TempDir
    Path directory;

    private ShmClientConnection connect() {
        ShmClientConnection connection = LyingServer.connect("/test/echo", directory, Duration.ofSeconds(20));
        connection.use(HostileScript.service("/test/echo"));
        return connection;
    }

    private LyingServer silentServer() throws IOException {
        LyingServer server = new LyingServer(directory, HostileScript.service("/test/echo"));
        server.answer((ticket, slot, memory) -> {});
        return server;
    }

    private static ClientCall begin(ShmClientConnection connection, long deadline, CallObserver observer) {
        ClientCall call = connection.begin(METHOD, deadline, Metadata.EMPTY, Isolation.TRUSTED, observer);
        call.arguments().writeLong(1);
        return call;
    }

    /** What a call does that finds its connection closed once its arguments are encoded. */
    enum Way {
        ONE_WAY(ClientCall::invokeOneWay),
        FUTURE(call -> assertThat(call.invokeAsync((in, of) -> in.readLong())).isCompletedExceptionally()),
        SYNCHRONOUS(call -> {
            assertThatThrownBy(call::invoke).isInstanceOf(RpcException.class);
            call.close();
        }),
        NOT_SENT(ClientCall::close),
        CONTROL(call -> ((ShmClientCall) call).sendControl(ControlOp.CANCEL));

        private final Consumer<ClientCall> goOn;

        Way(Consumer<ClientCall> goOn) {
            this.goOn = goOn;
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldUnmapAfterACallThatWasBeingEncoded(Way way) throws Exception {
        try (LyingServer server = silentServer()) {
            ShmClientConnection connection = connect();
            ClientCall call = begin(connection, 0, CallObserver.NONE);
            connection.close();
            assertThat(connection.memory.scope().isAlive())
                    .as("mapped while the call uses it")
                    .isTrue();
            way.goOn.accept(call);
            Await.until("it is unmapped", () -> !connection.memory.scope().isAlive());
            assertThat(server.failure()).isEmpty();
        }
    }

    @Test
    void shouldUnmapAfterACallThatHadGivenUpWaiting() throws Exception {
        try (LyingServer server = silentServer()) {
            ShmClientConnection connection = connect();
            // The observer hears of it before the slot is left.
            ClientCall call =
                    begin(connection, System.nanoTime() + 1_000_000, (status, trailers) -> connection.close());
            assertThatThrownBy(call::invoke).hasMessageContaining("DEADLINE_EXCEEDED");
            call.close();
            Await.until("it is unmapped", () -> !connection.memory.scope().isAlive());
            assertThat(server.failure()).isEmpty();
        }
    }

    /** The end passes a call that is still being encoded, and unmaps before the sender looks for the end. */
    @Test
    void shouldLoseACallThatIsAsynchronousOnceTheMemoryIsUnmapped() throws Exception {
        try (LyingServer server = silentServer()) {
            ShmClientConnection connection = connect();
            List<Status> told = new ArrayList<>();
            CallObserver observer = (status, _) -> told.add(status);
            ShmClientCall call = (ShmClientCall) begin(connection, 0, observer);
            connection.end.close(Status.Code.UNAVAILABLE.with("expected in this test"));
            RpcFuture<Long> future = new RpcFuture<>(connection, call, (in, of) -> in.readLong(), observer);
            call.future = future;
            call.setState(ClientSlot.ASYNC);
            call.hasLeft();
            // Later, on another thread, if some thread is using the memory at this moment.
            Await.until("it is unmapped", () -> !connection.memory.scope().isAlive());

            future.lose(connection.end.failure());
            assertThatThrownBy(future::join).hasRootCauseMessage("UNAVAILABLE: expected in this test");
            assertThat(future.wasNeverBegun()).isFalse();
            assertThat(told).singleElement().satisfies(status -> {
                assertThat(status.code()).isEqualTo(Status.Code.UNAVAILABLE);
            });
            assertThat(call.isBusy()).as("the slot is taken").isFalse();
            assertThat(server.failure()).isEmpty();
        }
    }
}
