package dev.rackcall.rdma;

import static dev.rackcall.rpc.contract.RpcFixture.codeOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Calls that wait for nearly two minutes, while something that they need dies. */
record WaitingCalls(CompletableFuture<Integer> asynchronous, CompletableFuture<Status.Code> blocked) {
    /** Longer than these calls wait. */
    static final Duration TIMEOUT = Duration.ofMinutes(2);

    private static final int MILLIS = 110_000;

    static WaitingCalls of(Echo echo) {
        return new WaitingCalls(echo.later(1, MILLIS), Concurrently.start(() -> codeOf(() -> echo.block(MILLIS))));
    }

    /** They end because of the death, and not by themselves. */
    void assertUnavailable() {
        assertThat(blocked.join()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThatThrownBy(asynchronous::join).hasMessageContaining("UNAVAILABLE");
    }
}
