package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A handler that calls another server passes on the rest of its caller's deadline. */
@Timeout(120)
class NestedDeadlineTest {
    @TempDir
    Path near;

    @TempDir
    Path far;

    /** Answers with the time that the next server gets. */
    private static final class Relay extends EchoService {
        private final Echo behind;

        Relay(Echo behind) {
            this.behind = behind;
        }

        @Override
        public long remainingMillis() {
            return behind.remainingMillis();
        }
    }

    @Test
    void shouldGiveANestedCallItsCallersTimeAndNoMore() {
        try (RpcServer last = server(far, new EchoService());
                RpcChannel toLast =
                        RpcChannel.builder("/test/echo").directory(far).open();
                RpcServer first = server(near, new Relay(toLast.stub(Echo.class)));
                RpcChannel channel =
                        RpcChannel.builder("/test/echo").directory(near).open()) {
            Echo hurried = channel.stub(Echo.class, CallOptions.DEFAULT.withTimeout(Duration.ofSeconds(10)));

            assertThat(hurried.remainingMillis()).isBetween(0L, 10_000L);
            // Only the call's own timeout applies.
            assertThat(channel.stub(Echo.class).remainingMillis()).isGreaterThan(10_000L);
            assertThat(last.connections() + first.connections()).isEqualTo(2);
        }
    }

    private static RpcServer server(Path directory, Echo service) {
        return RpcServer.builder()
                .service(Echo.class, service)
                .directory(directory)
                .start();
    }
}
