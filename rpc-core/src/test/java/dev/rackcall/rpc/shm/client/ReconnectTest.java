package dev.rackcall.rpc.shm.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.spi.ServiceDefinition;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Connecting anew to a server that has come back and says nothing, with a bound of an hour: calls end by their own
 * bounds, and closing does not wait.
 */
@Timeout(60)
class ReconnectTest {
    private static final CallOptions SHORT = CallOptions.DEFAULT.withTimeout(Duration.ofMillis(200));

    @TempDir
    Path directory;

    private final CountDownLatch asked = new CountDownLatch(1);
    private LyingServer server;
    private RpcChannel channel;

    @BeforeEach
    void start() throws Exception {
        server = new LyingServer(directory, ServiceDefinition.of(Echo.class));
        channel = RpcChannel.builder("/test/echo")
                .directory(directory)
                .slots(LyingServer.SLOTS)
                .arenaQuota(LyingServer.QUOTA)
                .connectTimeout(Duration.ofHours(1))
                .open();
        server.lie((offer, socket) -> {
            offer.silent = true;
            asked.countDown();
        });
        server.answer((ticket, slot, memory) -> server.hangUp());
        assertThat(outcome(channel.stub(Echo.class))).isEqualTo(Status.Code.UNAVAILABLE);
    }

    @AfterEach
    void stop() throws InterruptedException {
        channel.close();
        server.close();
    }

    private static Status.Code outcome(Echo echo) {
        return catchThrowableOfType(RpcException.class, () -> echo.add(1, 1)).code();
    }

    @Test
    void shouldEndACallByItsOwnDeadline() {
        assertThat(outcome(channel.stub(Echo.class, SHORT))).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
    }

    @Test
    void shouldWaitForAnotherThreadsAttemptNoLongerThanTheCallMayTake() throws Exception {
        Echo patient = channel.stub(Echo.class, CallOptions.DEFAULT.withTimeout(Duration.ofHours(1)));
        CompletableFuture<Status.Code> other =
                CompletableFuture.supplyAsync(() -> outcome(patient), Thread::startVirtualThread);
        assertThat(asked.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(outcome(channel.stub(Echo.class, SHORT))).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        assertThat(other).isNotDone();
        channel.close();
        server.close();
        assertThat(other).succeedsWithin(Duration.ofSeconds(30)).isEqualTo(Status.Code.CANCELLED);
    }
}
