package dev.rackcall.cp.lane;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Hosts;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.request.KnownRegions;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Which idle peers stay connected. */
class PeersTest {
    @RegisterExtension
    final Hosts hosts = new Hosts(4);

    private final List<HostId> closed = new ArrayList<>();
    private final Peers peers = new Peers(2);
    private LanePeer model;

    @BeforeEach
    void findOne() {
        Agent server = hosts.agent("server");
        model = QueueLanes.peer(hosts.agent("client").admit("t").connect(server.host()));
    }

    private LanePeer acquire(String name) {
        return peers.acquire(
                HostId.named(name),
                model.record(),
                host -> new LanePeer(
                        host,
                        model.record(),
                        Optional.empty(),
                        new KnownRegions(_ -> Optional.empty(), 1, System::nanoTime),
                        model.lane(),
                        () -> closed.add(host)));
    }

    @Test
    void shouldCloseTheWaysThatWereUsedLongestAgo() {
        peers.release(acquire("a"));
        peers.release(acquire("b"));
        assertThat(closed).as("as many as are kept").isEmpty();
        // Used again, so it is no longer the least recently used.
        peers.release(acquire("a"));
        peers.release(acquire("c"));
        assertThat(closed).containsExactly(HostId.named("b"));
        peers.release(acquire("d"));
        assertThat(closed).containsExactly(HostId.named("b"), HostId.named("a"));
        assertThat(peers.all()).map(LanePeer::host).containsExactly(HostId.named("c"), HostId.named("d"));
    }

    @Test
    void shouldKeepPeersInUse() {
        LanePeer a = acquire("a");
        LanePeer b = acquire("b");
        LanePeer c = acquire("c");
        assertThat(closed).as("all are in use").isEmpty();
        peers.release(b);
        peers.release(c);
        assertThat(closed).as("two are idle, as many as are kept").isEmpty();
        peers.release(acquire("d"));
        assertThat(closed).containsExactly(HostId.named("b"));
        // No virtual queue uses the peer, but the device has not ended its requests yet.
        a.underWay().incrementAndGet();
        peers.release(a);
        peers.release(acquire("e"));
        assertThat(closed).containsExactly(HostId.named("b"), HostId.named("c"));
        a.underWay().decrementAndGet();
        peers.release(acquire("f"));
        assertThat(closed).contains(HostId.named("a"));
        assertThat(peers.all()).map(LanePeer::host).containsExactly(HostId.named("e"), HostId.named("f"));
    }
}
