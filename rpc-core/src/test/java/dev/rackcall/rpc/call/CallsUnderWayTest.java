package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Servers and channels count their calls, including calls that wait while a polling thread runs a handler. */
@Timeout(240)
class CallsUnderWayTest extends RpcFixture {
    private static final int CALLS = 10;

    @Test
    void shouldCountWhatWaitsInTheMiddleOfABurst() {
        AtomicInteger begun = new AtomicInteger();
        Semaphore turns = new Semaphore(0);
        RpcServer server = serve(serving(Echo.class, new EchoService())
                .stuckAfter(Duration.ofMinutes(5))
                .interceptor((call, next) -> {
                    begun.incrementAndGet();
                    turns.acquireUninterruptibly();
                    next.run();
                }));
        Echo echo = connect(Echo.class);
        List<CompletableFuture<Integer>> answers = IntStream.range(0, CALLS)
                .mapToObj(number -> echo.later(number, 0))
                .toList();
        Await.equal("handlers that have begun", 1, begun::get);
        // The next request shows what this one finds.
        server.callsUnderWay();
        turns.release();
        Await.equal("handlers that have begun", 2, begun::get);
        assertThat(server.callsUnderWay()).isGreaterThanOrEqualTo(CALLS - 1);
        turns.release(CALLS);
        answers.forEach(CompletableFuture::join);
        Await.equal("calls under way", 0, server::callsUnderWay);
    }

    /** A stream holds no slot between two of its requests, and its connection must stay. */
    @Test
    void shouldCountAStreamThatIsRead() {
        serve(Echo.class, new EchoService());
        RpcChannel channel = open(Echo.class);
        Stream<Integer> numbers = channel.stub(Echo.class).count(0, 20_000);
        Iterator<Integer> read = numbers.iterator();
        assertThat(read.next()).isZero();
        Await.equal("calls under way", 1, () -> channel.routes().getFirst().calls());
        numbers.close();
        Await.equal("calls under way", 0, () -> channel.routes().getFirst().calls());
    }
}
