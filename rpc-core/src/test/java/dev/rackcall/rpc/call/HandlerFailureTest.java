package dev.rackcall.rpc.call;

import static dev.rackcall.testkit.Thrown.assertThrown;
import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.CapturedErr;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Handlers whose failure cannot even be described, or that run out of memory: one call ends and nothing else. */
class HandlerFailureTest extends RpcFixture {

    /** Throws from the methods that describe it. */
    private static final class Unspeakable extends RuntimeException {
        private static final long serialVersionUID = 1L;

        @Override
        public String getMessage() {
            throw new IllegalStateException("no message either");
        }

        @Override
        public String toString() {
            throw new IllegalStateException("no text either");
        }
    }

    private static final class FailingService extends EchoService {
        @Override
        public void crash(String message) {
            switch (message) {
                case "unspeakable" -> throw new Unspeakable();
                case "endless" -> crash(message);
                case "memory" -> throw new OutOfMemoryError("expected in this test");
                default -> throw new AssertionError("expected in this test");
            }
        }
    }

    static List<Dispatch> dispatches() {
        return List.of(Dispatch.direct(), Dispatch.workers(1), Dispatch.virtualThreads());
    }

    @ParameterizedTest
    @MethodSource("dispatches")
    void shouldFailOneCallOnly(Dispatch dispatch) {
        RpcServer server = serve(serving(Echo.class, new FailingService()).dispatch(dispatch));
        Echo echo = connect(Echo.class);
        for (String message : new String[] {"unspeakable", "endless", "memory", "other"}) {
            assertFails(Status.Code.UNKNOWN, () -> echo.crash(message));
            assertThat(echo.add(1, 2)).as(message).isEqualTo(3);
        }
        assertThat(server.connections()).isEqualTo(1);
    }

    @Test
    void shouldNameTheMethodWhoseHandlerBlocksThePoller() {
        serve(serving(Echo.class, new EchoService()).dispatch(Dispatch.direct()).stuckAfter(Duration.ofMillis(5)));
        Echo echo = connect(Echo.class);
        try (CapturedErr log = CapturedErr.begin()) {
            // A busy machine may let the watcher come late.
            Await.until("the log names the method", () -> {
                echo.block(50);
                return log.text().contains("the handler of /test/echo/block has not returned");
            });
        }
    }

    /** Other connections wait for a handler that may keep the poller, even if it does so for many looks. */
    @Test
    void shouldNotTakeOverBeforeTheTime() {
        List<String> order = new CopyOnWriteArrayList<>();
        EchoService service = new EchoService() {
            @Override
            public boolean block(long millis) {
                boolean early = super.block(millis);
                order.add("block");
                return early;
            }

            @Override
            public long add(long a, long b) {
                order.add("add");
                return super.add(a, b);
            }
        };
        serve(serving(Echo.class, service).dispatch(Dispatch.direct()).stuckAfter(Duration.ofMinutes(5)));
        Echo first = connect(Echo.class);
        Echo second = connect(Echo.class);
        var blocked = Concurrently.start(() -> first.block(500));
        Await.equal("handlers", 1, service.blocking::get);
        assertThat(second.add(1, 2)).isEqualTo(3);
        assertThat(Concurrently.get(blocked)).isFalse();
        assertThat(order).containsExactly("block", "add");
    }

    /** Requests that belong to no method of the service pull its elements. */
    @Test
    void shouldBlameTheMethodThatReturnedAStreamForAnElementThatFails() {
        RpcServer server = serve(
                Feed.class,
                Feed.of(() -> IntStream.range(0, 1000).mapToObj(i -> {
                    throw new IllegalStateException("expected in this test");
                })));
        Feed feed = connect(Feed.class);
        assertThrown(
                RpcException.class,
                () -> {
                    try (Stream<Feed.Item> items = feed.items()) {
                        items.forEach(item -> {});
                    }
                },
                "/test/feed/items: the handler threw IllegalStateException");
        assertThat(server.connections()).isEqualTo(1);
    }

    @Test
    void shouldRefuseAnExceptionWhoseStatusIsOk() {
        assertThrown(IllegalArgumentException.class, () -> new RpcException(Status.OK), "a call that succeeds returns");
    }
}
