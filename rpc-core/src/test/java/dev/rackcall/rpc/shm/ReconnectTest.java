package dev.rackcall.rpc.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Echo;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ServiceDefinition;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Connecting anew to a server that has come back and says nothing, with a bound of an hour: calls end by their own bounds, and closing does not wait. */
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
        server.hangUp();
    }

    @AfterEach
    void stop() throws InterruptedException {
        channel.close();
        server.close();
    }

    private Status.Code outcome(Echo echo) {
        return catchThrowableOfType(RpcException.class, () -> {
                    // The first may still go to the connection that ends.
                    while (true) {
                        try {
                            echo.add(1, 1);
                        } catch (RpcException e) {
                            if (e.code() != Status.Code.UNAVAILABLE) {
                                throw e;
                            }
                        }
                    }
                })
                .code();
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
        asked.await();
        assertThat(outcome(channel.stub(Echo.class, SHORT))).isEqualTo(Status.Code.DEADLINE_EXCEEDED);
        assertThat(other).isNotDone();
        channel.close();
        server.close();
        assertThat(other).succeedsWithin(Duration.ofSeconds(30)).isEqualTo(Status.Code.CANCELLED);
    }
}
