package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.spi.ServiceDefinition;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A client reconnects, with a timeout of an hour, to a server that does not answer: calls end by their own deadlines,
 * and closing does not wait.
 */
class ReconnectTest extends RpcFixture {
    private static final CallOptions SHORT = within(Duration.ofMillis(200));

    private final CountDownLatch asked = new CountDownLatch(1);
    private LyingServer server;
    private RpcChannel channel;

    @BeforeEach
    void start() throws Exception {
        server = keep(new LyingServer(directory, ServiceDefinition.of(Echo.class)));
        channel = open(channel(Echo.class)
                .slots(LyingServer.SLOTS)
                .arenaQuota(LyingServer.QUOTA)
                .connectTimeout(Duration.ofHours(1)));
        server.lie((offer, socket) -> {
            offer.silent = true;
            asked.countDown();
        });
        server.answer((ticket, slot, memory) -> server.hangUp());
        assertThat(outcome(channel.stub(Echo.class))).isEqualTo(Status.Code.UNAVAILABLE);
    }

    private static Status.Code outcome(Echo echo) {
        return codeOf(() -> echo.add(1, 1));
    }

    @Test
    void shouldEndACallByItsOwnDeadline() {
        assertThat(outcome(channel.stub(Echo.class, SHORT))).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
    }

    @Test
    void shouldWaitForAnotherThreadsAttemptNoLongerThanTheCallMayTake() throws Exception {
        Echo patient = channel.stub(Echo.class, within(Duration.ofHours(1)));
        CompletableFuture<Status.Code> other = Concurrently.start(() -> outcome(patient));
        Await.latch(asked);
        assertThat(outcome(channel.stub(Echo.class, SHORT))).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        assertThat(other).isNotDone();
        channel.close();
        server.close();
        assertThat(other).succeedsWithin(Duration.ofSeconds(30)).isEqualTo(Status.Code.CANCELLED);
    }
}
