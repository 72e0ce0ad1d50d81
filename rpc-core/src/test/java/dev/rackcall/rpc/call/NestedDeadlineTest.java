package dev.rackcall.rpc.call;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.testkit.Await;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A handler that calls another server passes on the rest of its caller's deadline. */
class NestedDeadlineTest extends RpcFixture {

    @TempDir
    Path far;

    @Test
    void shouldGiveANestedCallItsCallersTimeAndNoMore() {
        RpcServer last = serve(serving(Echo.class, new EchoService()).runtimeFolder(far));
        Echo behind = open(channel(Echo.class).runtimeFolder(far)).stub(Echo.class);
        RpcServer first = serve(Echo.class, new EchoService() {
            @Override
            public long remainingMillis() {
                return behind.remainingMillis();
            }
        });
        RpcChannel channel = open(Echo.class);
        Echo hurried = channel.stub(Echo.class, within(Duration.ofSeconds(10)));

        assertThat(hurried.remainingMillis()).isBetween(0L, 10_000L);
        // Only the call's own timeout applies.
        assertThat(channel.stub(Echo.class).remainingMillis()).isGreaterThan(10_000L);
        assertThat(last.connections() + first.connections()).isEqualTo(2);
    }

    @Test
    void shouldNotShowTheDefaultTimeoutToAnyOfSeveralServers() {
        serve(Echo.class, new EchoService());
        serve(Echo.class, new EchoService());
        RpcChannel channel = open(Echo.class);
        Await.equal("routes", 2, () -> channel.routes().size());
        Echo echo = channel.stub(Echo.class);
        for (int i = 0; i < 20; i++) {
            assertThat(echo.remainingMillis()).isEqualTo(Duration.ofDays(1).toMillis());
        }
    }
}
