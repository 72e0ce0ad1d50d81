package dev.rackcall.rpc.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.shm.server.MovedConnections;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.rpc.spi.TestSpecs;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Connections that move between pollers at any time serve their calls as if they stayed. */
class MovingConnectionsTest extends RpcFixture {
    private static final int ROUNDS = 300;
    private static final int POLLERS = 3;

    static List<Dispatch> dispatches() {
        return List.of(Dispatch.direct(), Dispatch.workers(2), Dispatch.virtualThreads());
    }

    private ShmServer serve(Dispatch dispatch) {
        ServiceDefinition<Echo> echo = ServiceDefinition.of(Echo.class);
        return keep(ShmServer.start(TestSpecs.server(
                new ServerSpec.Service<>(echo, echo.dispatcher(new EchoService())),
                TestSpecs.threads(dispatch, POLLERS, Duration.ofMillis(20)),
                100,
                directory)));
    }

    @ParameterizedTest
    @MethodSource("dispatches")
    void shouldAnswerEveryCallWhileConnectionsMove(Dispatch dispatch) {
        ShmServer server = serve(dispatch);
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Integer> mover = Concurrently.start(() -> {
            int moved = 0;
            while (!over.get()) {
                moved += MovedConnections.moveAll(server);
            }
            return moved;
        });
        try {
            // One caller connects anew for each round, so that connections also come and go on their way.
            Concurrently.run(4, caller -> {
                if (caller == 0) {
                    for (int i = 0; i < ROUNDS; i++) {
                        try (RpcChannel channel = channel(Echo.class).open()) {
                            assertThat(channel.stub(Echo.class).add(i, 1)).isEqualTo(i + 1L);
                        }
                    }
                } else {
                    callInManyWays(connect(Echo.class));
                }
            });
        } finally {
            over.set(true);
        }
        assertThat(Concurrently.get(mover)).as("moved connections").isGreaterThan(POLLERS);
        Await.equal("calls under way", 0, server::callsUnderWay);
        server.drain();
        assertThat(server.awaitDrained(Await.BOUND)).isTrue();
    }

    private static void callInManyWays(Echo echo) {
        for (int i = 0; i < ROUNDS; i++) {
            assertThat(echo.add(i, 2)).isEqualTo(i + 2L);
            List<CompletableFuture<Integer>> several = new ArrayList<>();
            for (int j = 0; j < 5; j++) {
                several.add(echo.later(j, j % 2));
            }
            several.removeLast().cancel(true);
            for (int j = 0; j < several.size(); j++) {
                assertThat(several.get(j).join()).isEqualTo(j);
            }
            try (Stream<Integer> numbers = echo.count(0, i)) {
                assertThat(numbers.mapToInt(number -> number).sum()).isEqualTo(i * (i - 1) / 2);
            }
        }
    }

    @ParameterizedTest
    @MethodSource("dispatches")
    void shouldEndConnectionsThatAreOnTheirWay(Dispatch dispatch) {
        ShmServer server = serve(dispatch);
        for (int i = 0; i < ROUNDS / 10; i++) {
            List<RpcChannel> channels =
                    Stream.generate(() -> channel(Echo.class).open()).limit(5).toList();
            channels.forEach(channel -> channel.stub(Echo.class).nothing());
            CompletableFuture<Integer> moved = Concurrently.start(() -> MovedConnections.moveAll(server));
            channels.forEach(RpcChannel::close);
            Concurrently.get(moved);
            Await.equal("connections", 0, server::connections);
        }
    }
}
