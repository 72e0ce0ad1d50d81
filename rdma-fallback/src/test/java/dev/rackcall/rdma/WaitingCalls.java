package dev.rackcall.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/** Calls that wait for nearly two minutes, while something that they need dies. */
record WaitingCalls(CompletableFuture<Integer> asynchronous, CompletableFuture<Status.Code> blocked) {
    /** Longer than these calls wait. */
    static final Duration TIMEOUT = Duration.ofMinutes(2);

    private static final int MILLIS = 110_000;

    static WaitingCalls of(Echo echo) {
        return new WaitingCalls(
                echo.later(1, MILLIS),
                CompletableFuture.supplyAsync(() -> catchThrowableOfType(RpcException.class, () -> echo.block(MILLIS))
                        .code()));
    }

    /** They end because of the death, and not by themselves. */
    void assertUnavailable() {
        assertThat(blocked.join()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThatThrownBy(asynchronous::join).hasMessageContaining("UNAVAILABLE");
    }
}
