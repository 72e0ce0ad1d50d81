package dev.rackcall.rpc.balance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.shm.HostServers;
import dev.rackcall.rpc.spi.ClientConnection;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What happens to a channel's connections to the servers of its host. */
@Timeout(60)
class HostBalancerTest extends RpcFixture {
    private ClientSpec spec() {
        return new ClientSpec(
                "/test/echo",
                ClientSpec.Place.here(directory),
                WaitStrategy.blocking(),
                new ClientSpec.Capacity(4, ClientSpec.Capacity.NEAR_QUOTA),
                new ClientSpec.Timeouts(Duration.ofSeconds(30), Duration.ofSeconds(30)),
                ClientSpec.Sealing.DEFAULT);
    }

    private HostBalancer balancer(HostServers.Reached first) {
        return keep(new HostBalancer(spec(), first, _ -> {}));
    }

    /** A thread of the background and a call may both connect to a server. */
    @Test
    void shouldKeepTheFirstOfTwoConnectionsToAServer() {
        serve(Echo.class, new EchoService());
        HostServers.Reached first = HostServers.connectAny(spec());
        HostBalancer balancer = balancer(first);
        ClientConnection second = HostServers.connect(spec(), first.server());
        assertThat(balancer.adopt(new HostServers.Reached(first.server(), second)))
                .isTrue();
        assertThat(first.connection().isUsable()).isTrue();
        assertThat(second.hasEnded()).isTrue();
        assertThat(balancer.subchannels())
                .singleElement()
                .satisfies(only -> assertThat(only.connection()).isSameAs(first.connection()));
    }

    @Test
    void shouldTakeNoConnectionsOnceItIsRetired() {
        serve(Echo.class, new EchoService());
        HostServers.Reached first = HostServers.connectAny(spec());
        HostBalancer balancer = balancer(first);
        balancer.retire();
        assertThat(first.connection().hasEnded()).as("it had no calls").isTrue();
        assertThat(balancer.isOver()).isTrue();
        assertThat(balancer.isClosed()).isFalse();
        ClientConnection second = keep(HostServers.connect(spec(), first.server()));
        assertThat(balancer.adopt(new HostServers.Reached(first.server(), second)))
                .isFalse();
        assertThat(second.isUsable()).isTrue();
    }
}
