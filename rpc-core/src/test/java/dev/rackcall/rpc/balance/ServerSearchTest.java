package dev.rackcall.rpc.balance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.rpc.runtime.ServerInstance;
import dev.rackcall.rpc.shm.HostServers;
import dev.rackcall.rpc.spi.TestSpecs;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** How the servers of a channel are found on a host. */
@Timeout(200)
class ServerSearchTest extends RpcFixture {
    private final Map<String, HostServers.Reached> adopted = new ConcurrentHashMap<>();
    private volatile boolean needsServers = true;
    private volatile boolean adopts = true;
    /** Connections that were offered. */
    private final AtomicInteger offers = new AtomicInteger();
    /** Connections are taken when it completes. */
    private volatile CompletableFuture<Void> gate = CompletableFuture.completedFuture(null);

    private final class Keeper implements ServerSearch.Owner {
        @Override
        public boolean needsServers() {
            return needsServers;
        }

        @Override
        public int connected() {
            return adopted.size();
        }

        @Override
        public boolean isConnected(String id) {
            return adopted.containsKey(id);
        }

        @Override
        public boolean adopt(HostServers.Reached reached) {
            offers.incrementAndGet();
            gate.join();
            boolean wanted = adopts;
            if (wanted) {
                keep(reached.connection());
                adopted.put(reached.server().id(), reached);
            }
            return wanted;
        }

        @Override
        public void found() {}

        @Override
        public void tick() {}
    }

    private final Keeper keeper = new Keeper();

    private ServerSearch search() {
        return keep(new ServerSearch(TestSpecs.client("/test/echo", directory), keeper));
    }

    private ServerInstance server(RpcServer running) {
        assertThat(running.channels()).containsExactly("/test/echo");
        return RuntimeDirectory.at(directory).instances("/test/echo").getFirst();
    }

    @Test
    void shouldConnectToServersThatStart() {
        search().start();
        serve(Echo.class, new EchoService());
        Await.equal("servers", 1, adopted::size);
        serve(Echo.class, new EchoService());
        Await.equal("servers", 2, adopted::size);
    }

    @Test
    void shouldRememberAChangeUntilServersAreNeeded() {
        needsServers = false;
        search().start();
        serve(Echo.class, new EchoService());
        needsServers = true;
        Await.equal("servers", 1, adopted::size);
    }

    @Test
    void shouldNotConnectToUnsuitableServers() {
        ServerInstance unsuitable = server(serve(Echo.class, new EchoService()));
        ServerSearch search = search();
        search.unsuitable(
                unsuitable,
                Status.Code.FAILED_PRECONDITION.with("of another version").asException());
        search.start();
        serve(Echo.class, new EchoService());
        Await.equal("servers", 1, adopted::size);
        assertThat(adopted).doesNotContainKey(unsuitable.id());
        assertThat(search.unsuitable()).isEqualTo(Set.of(unsuitable.id()));
    }

    @Test
    void shouldConnectAgainToServersThatFailedForNow() {
        ServerInstance busy = server(serve(Echo.class, new EchoService()));
        ServerSearch search = search();
        for (Status.Code code : new Status.Code[] {
            Status.Code.RESOURCE_EXHAUSTED, Status.Code.DEADLINE_EXCEEDED, Status.Code.UNAVAILABLE
        }) {
            search.unsuitable(busy, code.with("busy now").asException());
        }
        assertThat(search.unsuitable()).isEmpty();
        search.start();
        Await.equal("servers", Set.of(busy.id()), adopted::keySet);
    }

    @Test
    void shouldForgetServersThatHaveEnded() {
        RpcServer running = serve(Echo.class, new EchoService());
        ServerInstance unsuitable = server(running);
        ServerSearch search = search();
        search.unsuitable(
                unsuitable,
                Status.Code.FAILED_PRECONDITION.with("of another version").asException());
        search.start();
        running.close();
        Await.equal("unsuitable servers", Set.of(), search::unsuitable);
    }

    @Test
    void shouldRetryServersWhoseConnectionWasNotWanted() {
        adopts = false;
        ServerSearch search = search();
        search.start();
        serve(Echo.class, new EchoService());
        Await.until("an offer", () -> offers.get() > 0);
        Await.equal("connections under way", 0, search::tried);
        adopts = true;
        search.soon();
        Await.equal("servers", 1, adopted::size);
    }

    private static long soon() {
        return System.nanoTime() + Await.BOUND.toNanos();
    }

    @Test
    void shouldConnectUntilOneOfTheServersIsFound() {
        ServerSearch search = search();
        assertThat(search.isFound(() -> false, soon())).as("no servers").isFalse();
        serve(Echo.class, new EchoService());
        assertThat(search.isFound(() -> adopted.size() == 1, soon())).isTrue();
        serve(Echo.class, new EchoService());
        assertThat(search.isFound(() -> adopted.size() == 2, soon())).isTrue();
        assertThat(search.isFound(() -> false, soon())).isFalse();
        assertThat(offers).hasValue(2);
    }

    @Test
    void shouldTryAServerOnceForAllCallsThatMissAMethod() {
        adopts = false;
        serve(Echo.class, new EchoService());
        ServerSearch search = search();
        for (int i = 0; i < 3; i++) {
            assertThat(search.isFound(() -> false, soon())).isFalse();
        }
        assertThat(offers).hasValue(1);
    }

    @Test
    void shouldWaitForServersUntilTheDeadline() {
        gate = new CompletableFuture<>();
        serve(Echo.class, new EchoService());
        ServerSearch search = search();
        assertFails(Status.Code.DEADLINE_EXCEEDED, () -> search.isFound(() -> false, System.nanoTime()))
                .hasMessageContaining("/test/echo");
        CompletableFuture<Boolean> found = Concurrently.start(() -> search.isFound(() -> !adopted.isEmpty(), soon()));
        gate.complete(null);
        assertThat(found.join()).isTrue();
        assertThat(offers).hasValue(1);
    }

    @Test
    void shouldFindNothingAfterItWasClosed() {
        ServerSearch search = search();
        search.close();
        search.start();
        serve(Echo.class, new EchoService());
        assertThat(search.connectToAnother(ConcurrentHashMap.newKeySet(), System.nanoTime()))
                .as("the time is over")
                .isFalse();
        assertThat(adopted).isEmpty();
    }
}
