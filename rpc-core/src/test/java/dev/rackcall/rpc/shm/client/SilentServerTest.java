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
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

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
        // Again: on a busy machine the deadline may pass before the server is asked.
        Await.until("a request for the service", () -> {
            CompletableFuture<Boolean> call = Concurrently.start(() -> {
                assertFails(Status.Code.DEADLINE_EXCEEDED, library::kept);
                return true;
            });
            assertThat(call).succeedsWithin(Await.BOUND);
            return asked.getCount() == 0;
        });
        channel.close();
        assertThat(silent.failure()).isEmpty();
    }

    /** Not idempotent: only what a server says that it has not begun goes to another one. */
    @ParameterizedTest
    @EnumSource
    void shouldRepeatACallThatAServerHasNotBegunWhenItEnded(Style style) throws Exception {
        CountDownLatch left = new CountDownLatch(1);
        LyingServer ending = endingServer(0, left);
        Echo echo = twoServers();
        Await.until("a call that the ending server gets", () -> {
            style.call.accept(echo);
            return left.getCount() == 0;
        });
        assertThat(ending.failure()).isEmpty();
    }

    /** The handler may have run. */
    @ParameterizedTest
    @EnumSource
    void shouldNotRepeatACallThatAServerHasBegunWhenItEnded(Style style) throws Exception {
        CountDownLatch left = new CountDownLatch(1);
        LyingServer ending = endingServer(1, left);
        Echo echo = twoServers();
        Await.until("a call that the ending server gets", () -> {
            Status.Code code = codeOf(() -> {
                try {
                    style.call.accept(echo);
                } catch (CompletionException e) {
                    throw (RuntimeException) e.getCause();
                }
            });
            assertThat(code).isEqualTo(left.getCount() == 0 ? Status.Code.UNAVAILABLE : Status.Code.OK);
            return left.getCount() == 0;
        });
        assertThat(ending.failure()).isEmpty();
    }

    enum Style {
        SYNC(echo -> assertThat(echo.add(1, 2)).isEqualTo(3)),
        ASYNC(echo -> assertThat(echo.later(7, 0).join()).isEqualTo(7)),
        STREAM(echo -> assertThat(echo.count(0, 3)).hasSize(3));

        private final Consumer<Echo> call;

        Style(Consumer<Echo> call) {
            this.call = call;
        }
    }

    /** Ends at the first request, of which it says that it has taken so many with it. */
    private LyingServer endingServer(int taken, CountDownLatch left) throws IOException {
        LyingServer ending = keep(new LyingServer(directory, ServiceDefinition.of(Echo.class)));
        ending.answer((ticket, slot, memory) -> {
            ControlLayout.consumed(memory, ticket + taken);
            ControlLayout.state(memory, ControlLayout.STATE_ENDED);
            left.countDown();
        });
        return ending;
    }

    private Echo twoServers() {
        RpcChannel channel = open(Echo.class);
        serve(Echo.class, new EchoService());
        Await.equal("routes", 2, () -> channel.routes().size());
        return channel.stub(Echo.class, within(Await.BOUND));
    }
}
