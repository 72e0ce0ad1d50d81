package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallObserver;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.shm.waiting.Spinning;
import dev.rackcall.shm.waiting.WaitStrategy;
import dev.rackcall.testkit.Await;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RoomWaitTest extends RpcFixture {
    /** Fewer than the waits of which one spins to find out whether that pays. */
    private static final int WAITS = 20;

    @Test
    void shouldLearnNotToSpinWhereSlotsAreTakenForMilliseconds() {
        serve(Echo.class, new EchoService());
        ShmClientConnection connection = keep(LyingServer.connect("/test/echo", directory, Await.BOUND));
        ServiceDefinition<Echo> definition = ServiceDefinition.of(Echo.class);
        connection.use(definition);
        Echo echo = definition.stub(method -> connection.begin(
                method,
                System.nanoTime() + Await.BOUND.toNanos(),
                Metadata.EMPTY,
                Isolation.TRUSTED,
                CallObserver.NONE));
        Await.until("waits for a slot no longer spin", () -> {
            List<CompletableFuture<Integer>> slow = IntStream.range(0, connection.slots.all().length)
                    .mapToObj(i -> echo.later(i, 10))
                    .toList();
            assertThat(echo.add(1, 2)).isEqualTo(3);
            slow.forEach(answer -> assertThat(answer).succeedsWithin(Await.BOUND));
            return spins(connection.slots) <= 1;
        });
    }

    /** How many of some waits would spin. */
    private static int spins(ClientSlots slots) {
        int spins = 0;
        for (int i = 0; i < WAITS; i++) {
            Spinning spinning = new Spinning(WaitStrategy.adaptive(), slots.roomTime).begin();
            spins += spinning.goesOn(false) ? 1 : 0;
        }
        return spins;
    }
}
