package dev.rackcall.route;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.cp.HostId;
import dev.rackcall.cp.Tenant;
import dev.rackcall.cp.agent.Agent;
import dev.rackcall.cp.agent.AgentOptions;
import dev.rackcall.cp.meta.MetaServer;
import dev.rackcall.rdma.queue.QueueSettings;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Route.Kind;
import dev.rackcall.rpc.Route.State;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.Concurrently;
import dev.rackcall.verbs.soft.SoftDevice;
import dev.rackcall.verbs.soft.SoftOptions;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * The meta server or the directory is unavailable for a while during calls over virtual queues. No call fails, and
 * servers that start afterwards are found. Servers are other processes.
 */
class RestartRoutesTest extends RoutesFixture {
    /** Number of calls that shows that calls continue. */
    private static final int SOME = 100;

    private final AtomicInteger answered = new AtomicInteger();
    private final AtomicBoolean over = new AtomicBoolean();
    private CompletableFuture<Void> caller = CompletableFuture.completedFuture(null);
    private volatile MetaServer meta;
    private Tenant tenant;

    @BeforeEach
    void join() {
        meta = openMeta();
        Agent agent = keep(Agent.open(
                SoftDevice.of("here", SoftOptions.local()),
                AgentOptions.of(HostId.named("here")).withMeta(() -> meta.address())));
        tenant = keep(agent.admit("here"));
        QueueSettings.use(tenant);
    }

    @AfterEach
    void forget() {
        over.set(true);
        QueueSettings.forget(tenant);
    }

    /** With another address each time. */
    private MetaServer openMeta() {
        return keep(MetaServer.open(SoftDevice.of("meta", SoftOptions.local()), 16, Duration.ofMinutes(1)));
    }

    /** Registered with the current meta server. */
    private ChildJvm server(String name) throws InterruptedException {
        return child(name, name, meta.address().toString());
    }

    /** A channel on which a thread calls all the time. */
    private RpcChannel channel() {
        RpcChannel channel = channel("here");
        // At once, unless its host was registered late: a queue pair is taken until then.
        Await.equal("servers over virtual queues", List.of("host-of-one"), () -> servers(channel));
        Numbers numbers = channel.stub(Numbers.class);
        caller = Concurrently.start(() -> {
            while (!over.get()) {
                // Idempotent: a peer that gets no processor for 0.2 s counts as gone, and the call in flight to it
                // fails.
                assertThat(numbers.whoAgain()).isIn("one", "two");
                answered.incrementAndGet();
                // A server that is starting needs the processors.
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
            }
            return null;
        });
        awaitSomeCalls();
        return channel;
    }

    /** None has failed, and some more are answered. */
    private void awaitSomeCalls() {
        int before = answered.get();
        Await.until("some calls, or a failure", () -> caller.isDone() || answered.get() > before + SOME);
        assertThat(caller).isNotDone();
    }

    /** Those that are reached over virtual queues. */
    private static List<String> servers(RpcChannel channel) {
        return channel.routes().stream()
                .filter(route -> route.state() == State.USED && route.kind() == Kind.TCP_QUEUES)
                .map(Route::host)
                .sorted()
                .toList();
    }

    /** This process has no record of the server's host yet, so the meta server has to be asked for it. */
    private void awaitTheNextServer(RpcChannel channel, ChildJvm first) throws Exception {
        server("two");
        Await.until("the next server", () -> servers(channel).equals(List.of("host-of-one", "host-of-two")));
        awaitSomeCalls();
        over.set(true);
        caller.get();

        first.kill();
        Numbers numbers = channel.stub(Numbers.class);
        Await.until(
                "its calls by the next one",
                () -> numbers.whoAgain().equals("two") && servers(channel).equals(List.of("host-of-two")));
    }

    @Test
    void shouldGoOnWhileTheMetaServerIsAwayAndFindServersByTheNextOne() throws Exception {
        ChildJvm first = server("one");
        RpcChannel channel = channel();

        meta.close();
        awaitSomeCalls();
        meta = openMeta();
        Await.until("this host to be registered again", () -> meta.hosts() == 1);
        awaitSomeCalls();
        awaitTheNextServer(channel, first);
    }

    @Test
    void shouldGoOnWhileTheDirectoryIsAwayAndFindServersAfterwards() throws Exception {
        ChildJvm first = server("one");
        RpcChannel channel = channel();

        Files.move(host("members"), host("elsewhere"));
        awaitSomeCalls();
        Files.move(host("elsewhere"), host("members"));
        awaitSomeCalls();
        awaitTheNextServer(channel, first);
    }
}
