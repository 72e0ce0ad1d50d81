package dev.rackcall.rpc.shm;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.shm.server.HeldPoller;
import dev.rackcall.rpc.spi.ServerSpec;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.rpc.spi.TestSpecs;
import dev.rackcall.testkit.Await;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A cancellation ends its own call only. */
class CancelledCallTest extends RpcFixture {
    private ShmServer serve() {
        ServiceDefinition<Echo> echo = ServiceDefinition.of(Echo.class);
        return keep(ShmServer.start(TestSpecs.server(
                new ServerSpec.Service<>(echo, echo.dispatcher(new EchoService())),
                TestSpecs.threads(Dispatch.direct(), 1, Duration.ofMinutes(5)),
                100,
                directory)));
    }

    /**
     * A thread that loses its processor between finding the call and marking it would mark the slot's next call, if
     * another thread could begin that one in the meantime.
     */
    @Test
    void shouldStayOnDutyUntilTheCancellationIsServed() {
        ShmServer server = serve();
        Echo stub = connect(Echo.class);
        CompletableFuture<Integer> cancelled = stub.later(1, 60_000);
        Await.equal("calls under way", 1, server::callsUnderWay);
        List<Thread> threads = HeldPoller.holdAndCheck(server, () -> cancelled.cancel(true));
        assertThat(threads.getLast()).isSameAs(threads.getFirst());
        assertThat(stub.add(1, 2)).isEqualTo(3);
    }
}
