package dev.rackcall.rdma.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rdma.EchoServer;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.testkit.Await;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What a short connection over virtual queues asks of the devices of both hosts. */
class ConnectCostTest {
    /**
     * Connections, of which the cheapest counts: an end that waits long announces that it sleeps, and each end sends a
     * beat every 400 ms.
     */
    private static final int TRIES = 20;

    private final CountedRequests requests = new CountedRequests();

    /** Opens, calls once, closes. */
    private void callOnce(RpcServer server) {
        try (RpcChannel channel =
                EchoServer.channelTo(Echo.class, server.address().orElseThrow()).open()) {
            assertThat(channel.stub(Echo.class).add(1, 2)).isEqualTo(3);
        }
        Await.equal("connections", 0, server::connections);
    }

    private record Cost(int reads, int all) {}

    @Test
    void shouldLookUpNoMemoryOfThePeer() {
        try (QueueHosts hosts = QueueHosts.over(requests::of);
                RpcServer server = EchoServer.at(hosts.anyPort())) {
            // Connects the agents, too.
            callOnce(server);
            Cost[] costs = IntStream.range(0, TRIES)
                    .mapToObj(i -> {
                        requests.reset();
                        callOnce(server);
                        return new Cost(requests.reads(), requests.all());
                    })
                    .toArray(Cost[]::new);
            // The client's agent fetches the server's hello, which is long, and an end that sleeps READs whether its
            // announcement has arrived. The hellos name the memory of both ends, so no table of regions is read.
            assertThat(costs).anyMatch(cost -> cost.reads() <= 3);
            assertThat(costs).anyMatch(cost -> cost.all() <= 24);
        }
    }
}
