package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.Metadata;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcContext;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.ServerInterceptor;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The failure of a call inside a handler does not look like a failure of the handler's server. */
class NestedFailureTest extends RpcFixture {
    @TempDir
    private Path far;

    @TempDir
    private Path own;

    private RpcServer last;
    private Echo behind;
    private Echo echo;
    private Echo hurried;

    /** Passes its calls on. */
    private final class Relay extends EchoService {
        @Override
        public void fail(String code, String description) {
            behind.fail(code, description);
        }

        @Override
        public void crash(String code) {
            try {
                behind.fail(code, "chosen");
            } catch (RpcException e) {
                assertThat(e.isFromCall()).isTrue();
                throw e.status().asException();
            }
        }

        @Override
        public CompletableFuture<Integer> later(int value, int millis) {
            return behind.later(value, millis);
        }

        @Override
        public Stream<String> failAfter(int elements) {
            return behind.failAfter(elements);
        }

        @Override
        public boolean block(long millis) {
            return behind.block(millis);
        }

        @Override
        public long add(long first, long second) {
            return behind.add(first, second);
        }
    }

    @BeforeEach
    void start() {
        last = serve(serving(Echo.class, new EchoService()).runtimeFolder(far));
        behind = open(channel(Echo.class).runtimeFolder(far)).stub(Echo.class);
        serve(Echo.class, new Relay());
        RpcChannel channel = open(Echo.class);
        echo = channel.stub(Echo.class);
        hurried = channel.stub(Echo.class, within(Duration.ofMillis(20)));
    }

    private static RpcException failure(Runnable call) {
        return catchThrowableOfType(RpcException.class, call::run);
    }

    @Test
    void shouldEndWithUnknownUnlessTheHandlerChoosesTheStatus() {
        RpcException failed = failure(() -> echo.fail("UNAVAILABLE", "on strike"));
        assertThat(failed.code()).isEqualTo(Status.Code.UNKNOWN);
        assertThat(failed).hasMessageContainingAll("/test/echo/fail", "its handler made", "UNAVAILABLE: on strike");
        assertThat(failed.trailers()).isEqualTo(Metadata.EMPTY);
        assertFails(Status.Code.UNKNOWN, () -> echo.fail("INVALID_ARGUMENT", "wrong"));
        assertFails(Status.Code.UNKNOWN, () -> echo.fail("DEADLINE_EXCEEDED", "late by another deadline"));
        assertFails(Status.Code.UNKNOWN, () -> echo.fail("CANCELLED", "by another caller"));
        assertFails(Status.Code.UNAVAILABLE, () -> echo.crash("UNAVAILABLE")).hasMessageContaining("chosen");
        assertFails(Status.Code.UNKNOWN, () -> echo.failAfter(3).forEach(_ -> {}));
    }

    /** Whichever notices first, the client or the server. */
    @Test
    void shouldPassOnThatTheCallsOwnDeadlineHasPassed() {
        for (int i = 0; i < 20; i++) {
            assertFails(Status.Code.DEADLINE_EXCEEDED, () -> hurried.block(60_000));
        }
    }

    @Test
    void shouldNameTheInterceptorWhoseOwnCallFailed() {
        class Asking implements ServerInterceptor {
            @Override
            public void around(RpcContext call, Runnable next) {
                behind.fail("UNAVAILABLE", "no token");
            }
        }
        serve(serving(Echo.class, new EchoService()).runtimeFolder(own).interceptor(new Asking()));
        Echo asked = open(channel(Echo.class).runtimeFolder(own)).stub(Echo.class);
        assertFails(Status.Code.UNKNOWN, () -> asked.add(1, 2))
                .hasMessageContainingAll("its interceptor " + Asking.class.getName(), "UNAVAILABLE: no token");
    }

    @Test
    void shouldNotPassOnUnavailableFromANestedCall() {
        last.close();
        assertFails(Status.Code.UNKNOWN, () -> echo.add(1, 2)).hasMessageContaining("UNAVAILABLE: ");
        RpcException failed = failure(() -> {
            try {
                echo.later(1, 0).join();
            } catch (CompletionException e) {
                throw (RpcException) e.getCause();
            }
        });
        assertThat(failed.code()).isEqualTo(Status.Code.UNKNOWN);
    }
}
