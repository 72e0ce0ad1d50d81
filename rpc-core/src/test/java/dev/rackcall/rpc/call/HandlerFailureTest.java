package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import java.nio.file.Path;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Handlers whose failure cannot even be described, or that run out of memory: one call ends and nothing else. */
@Timeout(60)
class HandlerFailureTest {
    @TempDir
    Path directory;

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

    @ParameterizedTest
    @ValueSource(strings = {"direct", "worker", "virtual"})
    void shouldFailOneCallOnly(String how) {
        Dispatch dispatch = switch (how) {
            case "direct" -> Dispatch.direct();
            case "worker" -> Dispatch.workers(1);
            default -> Dispatch.virtualThreads();
        };
        try (RpcServer server = RpcServer.builder()
                        .service(Echo.class, new FailingService())
                        .dispatch(dispatch)
                        .directory(directory)
                        .start();
                RpcChannel channel =
                        RpcChannel.builder("/test/echo").directory(directory).open()) {
            Echo echo = channel.stub(Echo.class);
            for (String message : new String[] {"unspeakable", "endless", "memory", "other"}) {
                RpcException e = catchThrowableOfType(RpcException.class, () -> echo.crash(message));
                assertThat(e.code()).as(message).isEqualTo(Status.Code.UNKNOWN);
                assertThat(echo.add(1, 2)).as(message).isEqualTo(3);
            }
            assertThat(server.connections()).isEqualTo(1);
        }
    }

    /** Requests that belong to no method of the service pull its elements. */
    @Test
    void shouldBlameTheMethodThatReturnedAStreamForAnElementThatFails() {
        Feed feed = new Feed() {
            @Override
            public Stream<Item> items() {
                return IntStream.range(0, 1000).mapToObj(i -> {
                    throw new IllegalStateException("expected in this test");
                });
            }

            @Override
            public long add(long first, long second) {
                return first + second;
            }
        };
        try (RpcServer server = RpcServer.builder()
                        .service(Feed.class, feed)
                        .directory(directory)
                        .start();
                RpcChannel channel =
                        RpcChannel.builder("/test/feed").directory(directory).open()) {
            RpcException e = catchThrowableOfType(RpcException.class, () -> {
                try (Stream<Feed.Item> items = channel.stub(Feed.class).items()) {
                    items.forEach(item -> {});
                }
            });
            assertThat(e).hasMessageContaining("/test/feed/items: the handler threw IllegalStateException");
            assertThat(server.connections()).isEqualTo(1);
        }
    }

    @Test
    void shouldRefuseAnExceptionWhoseStatusIsOk() {
        assertThatThrownBy(() -> new RpcException(Status.OK))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("a call that succeeds returns");
    }
}
