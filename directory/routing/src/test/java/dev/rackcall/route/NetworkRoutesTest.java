package dev.rackcall.route;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.directory.Endpoint;
import dev.rackcall.rpc.Route.Kind;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.balance.Subchannel;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** The reasons given for network routes that are not used, and when a failed route is tried again. */
class NetworkRoutesTest {
    private static final Subchannel[] NONE = {};
    private static final URI QUEUES = URI.create("vq://host-a:7");
    private static final URI PAIRS = URI.create("rdma://10.0.0.1:18515");

    private static Endpoint at(List<URI> rdma, List<URI> tcp) {
        return Endpoint.of("a", "host-a", 1).withRdma(rdma).withTcp(tcp);
    }

    private static String why(Endpoint endpoint, Kind kind) {
        return NetworkRoutes.notAnnounced(endpoint, kind);
    }

    @Test
    void shouldSayWhereAServerWithTwoDevicesListens() {
        Endpoint mixed = at(List.of(PAIRS), List.of(QUEUES));
        assertThat(why(mixed, Kind.RDMA_QUEUES))
                .isEqualTo("its server's virtual queues are those of a software device");
        assertThat(why(mixed, Kind.TCP)).isEqualTo("its server's own queue pairs are those of an RDMA device");
        Endpoint other = at(List.of(QUEUES), List.of(PAIRS));
        assertThat(why(other, Kind.RDMA)).isEqualTo("its server's own queue pairs are those of a software device");
        assertThat(why(other, Kind.TCP_QUEUES)).isEqualTo("its server's virtual queues are those of an RDMA device");
    }

    @Test
    void shouldSayWhatAServerDoesNotListenAt() {
        Endpoint pairs = at(List.of(PAIRS), List.of());
        assertThat(why(pairs, Kind.RDMA_QUEUES)).isEqualTo("its server listens at no vq:// address");
        assertThat(why(pairs, Kind.TCP_QUEUES)).isEqualTo("its server listens by its RDMA device");
        assertThat(why(pairs, Kind.TCP)).isEqualTo("its server listens by its RDMA device");
        Endpoint queues = at(List.of(), List.of(QUEUES));
        assertThat(why(queues, Kind.RDMA)).isEqualTo("its server announces no RDMA device");
        assertThat(why(queues, Kind.TCP)).isEqualTo("its server listens at vq:// only");
        assertThat(why(at(List.of(), List.of()), Kind.TCP))
                .isEqualTo("its server does not listen for clients that share no memory with it");
    }

    @Test
    void shouldExplainQueuePairsAndNotASecondAddressByWhatIsGoodOfVirtualQueues() {
        assertThat(NetworkRoutes.whyNotNeeded(Kind.TCP, Kind.TCP_QUEUES))
                .isEqualTo("virtual queues work, which are there at once and share queue pairs");
        assertThat(NetworkRoutes.whyNotNeeded(Kind.TCP_QUEUES, Kind.TCP_QUEUES))
                .isEqualTo("a better route works: virtual queues over TCP");
    }

    private static EndpointRoute route() {
        return EndpointRoute.to(
                        at(List.of(), List.of(QUEUES)),
                        RoutesFixture.spec(Path.of("unused")),
                        new ChannelPool(Optional.empty()))
                .stream()
                .filter(each -> each.kind() == Kind.TCP_QUEUES)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void shouldLeaveAWayAloneWhoseConnectionsWantWhatIsNotThere() {
        EndpointRoute route = route();
        assertThat(route.isDue()).isTrue();
        route.lost(Optional.empty());
        assertThat(route.isShunned()).isFalse();
        route.lost(Optional.of(Status.Code.UNAVAILABLE.with("a request ended")));
        assertThat(route.isShunned()).isFalse();
        assertThat(route.describe(NONE).reason()).isEqualTo("its connection has ended: a request ended");
        route.lost(Optional.of(Status.Code.RESOURCE_EXHAUSTED.with("no region is left")));
        assertThat(route.isShunned()).isTrue();
        assertThat(route.isDue()).isFalse();
        assertThat(route.describe(NONE).reason()).isEqualTo("its connection has ended: no region is left");
    }
}
