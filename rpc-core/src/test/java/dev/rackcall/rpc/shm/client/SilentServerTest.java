package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.Library;
import dev.rackcall.rpc.contract.LibraryService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.shm.protocol.ControlLayout;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A server that takes clients and answers nothing. */
@Timeout(200)
class SilentServerTest extends RpcFixture {
    /** A call that meets a new server asks it for the stub's service first, and has to keep its own deadline. */
    @Test
    void shouldAskForAServiceUntilTheCallsDeadlineOnly() throws Exception {
        RpcServer first = serve(serving(Echo.class, new EchoService()).service(Library.class, new LibraryService()));
        RpcChannel channel = open(channel(Echo.class).connectTimeout(Duration.ofSeconds(1_000)));
        Library library = channel.stub(Library.class, within(Duration.ofMillis(300)));
        first.close();
        CountDownLatch asked = new CountDownLatch(1);
        LyingServer silent = keep(new LyingServer(directory, ServiceDefinition.of(Echo.class)));
        silent.answer((ticket, slot, memory) -> asked.countDown());
        CompletableFuture<Boolean> call = Concurrently.start(() -> {
            assertFails(Status.Code.DEADLINE_EXCEEDED, library::kept);
            return true;
        });
        assertThat(call).succeedsWithin(Await.BOUND);
        assertThat(asked.getCount())
                .as("requests for the service that are missing")
                .isZero();
        channel.close();
        assertThat(silent.failure()).isEmpty();
    }

    /** Not idempotent: only what a server says that it has not begun goes to another one. */
    @Test
    void shouldRepeatACallThatAServerHasNotBegunWhenItEnded() throws Exception {
        CountDownLatch left = new CountDownLatch(1);
        LyingServer ending = keep(new LyingServer(directory, ServiceDefinition.of(Echo.class)));
        ending.answer((ticket, slot, memory) -> {
            ControlLayout.consumed(memory, ticket);
            ControlLayout.state(memory, ControlLayout.STATE_ENDED);
            left.countDown();
        });
        RpcChannel channel = open(Echo.class);
        serve(Echo.class, new EchoService());
        Await.equal("routes", 2, () -> channel.routes().size());
        Echo echo = channel.stub(Echo.class, within(Await.BOUND));
        Await.until("a call that the ending server gets", () -> {
            assertThat(echo.add(1, 2)).isEqualTo(3);
            return left.getCount() == 0;
        });
        channel.close();
        assertThat(ending.failure()).isEmpty();
    }
}
