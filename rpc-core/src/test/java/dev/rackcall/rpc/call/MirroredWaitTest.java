package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.shm.mirror.CopyCarriers;
import dev.rackcall.shm.waiting.WaitStrategy;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A caller that waits by polling a device sleeps after a while, as other callers do. */
class MirroredWaitTest extends RpcFixture {
    /** More than a caller makes that spins for a fraction of a millisecond; in the 300 ms of a call there is time for millions. */
    private static final int LOOKS = 20_000;

    private static final URI ADDRESS = URI.create("copy://wait");

    private static final String REACTOR = "rackcall-client";
    private static final String SLEEPER = "sleeper";

    private final CountDownLatch goesOn = new CountDownLatch(1);
    private Echo echo;

    /** Has a handler that returns when the test lets it. */
    private final class Stubborn extends EchoService {
        @Override
        public void crash(String message) {
            Await.latch(goesOn);
        }
    }

    @BeforeEach
    void connect() {
        serve(RpcServer.builder()
                .service(Echo.class, new Stubborn())
                .dispatch(Dispatch.virtualThreads())
                .runtimeFolder(directory)
                .listen(ADDRESS));
        echo = open(channel("/test/echo").address(ADDRESS).arenaQuota(8 << 20).waiting(WaitStrategy.adaptive()))
                .stub(Echo.class);
        echo.nothing();
    }

    @Test
    void shouldSleepWhenACallTakesItsTime() {
        long before = CopyCarriers.looksOfThisThread();
        assertThat(echo.block(300)).isFalse();
        assertThat(CopyCarriers.looksOfThisThread() - before).isBetween(0L, (long) LOOKS);
    }

    @Test
    void shouldSleepWhenAFutureTakesItsTime() {
        CompletableFuture<Integer> future = echo.later(7, 300);
        long before = CopyCarriers.looksOfThisThread();
        assertThat(future.join()).isEqualTo(7);
        assertThat(CopyCarriers.looksOfThisThread() - before).isBetween(0L, (long) LOOKS);
    }

    /** The ring has used up the announcement of the thread that sleeps on: the next answer would not ring. */
    @Test
    void shouldAnnounceItsSleepAgainAfterARingForAnEarlierAnswer() {
        int before = CopyCarriers.listens(REACTOR);
        CompletableFuture<Boolean> caller = Concurrently.start(() -> {
            Thread.currentThread().setName(SLEEPER);
            echo.crash("not now");
            return true;
        });
        try {
            Await.until("the caller sleeps", () -> CopyCarriers.listens(SLEEPER) > 0);
            Await.until("the sleep is announced again", () -> {
                CopyCarriers.ringClient(ADDRESS);
                return CopyCarriers.listens(REACTOR) > before;
            });
        } finally {
            goesOn.countDown();
        }
        assertThat(Concurrently.get(caller)).isTrue();
    }
}
