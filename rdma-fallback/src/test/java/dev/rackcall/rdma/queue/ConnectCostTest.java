package dev.rackcall.rdma.queue;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rdma.EchoServer;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.testkit.Await;
import org.junit.jupiter.api.Test;

/** What a short connection over virtual queues asks of the devices of both hosts. */
class ConnectCostTest {
    private final CountedRequests requests = new CountedRequests();

    /** Opens, calls once, closes. */
    private void callOnce(RpcServer server) {
        try (RpcChannel channel =
                EchoServer.channelTo(Echo.class, server.address().orElseThrow()).open()) {
            assertThat(channel.stub(Echo.class).add(1, 2)).isEqualTo(3);
        }
        Await.equal("connections", 0, server::connections);
    }

    /**
     * The cheapest connections count: an end that waits long announces that it sleeps, and each end sends a beat every
     * 400 ms.
     */
    @Test
    void shouldLookUpNoMemoryOfThePeer() {
        try (QueueHosts hosts = QueueHosts.over(requests::of);
                RpcServer server = EchoServer.at(hosts.anyPort())) {
            // Connects the agents, too.
            callOnce(server);
            // The client's agent fetches the server's hello, which is long, and an end that sleeps READs whether its
            // announcement has arrived. The hellos name the memory of both ends, so no table of regions is read.
            int[] least = {Integer.MAX_VALUE, Integer.MAX_VALUE};
            Await.until("a connection with at most 3 READs, and one with at most 24 requests", () -> {
                requests.reset();
                callOnce(server);
                least[0] = Math.min(least[0], requests.reads());
                least[1] = Math.min(least[1], requests.all());
                return least[0] <= 3 && least[1] <= 24;
            });
        }
    }
}
