package dev.rackcall.rpc.servers;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.Echo;
import dev.rackcall.rpc.contract.EchoService;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.rpc.runtime.RuntimeDirectory;
import dev.rackcall.shm.Scope;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.Concurrently;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Several server processes of one channel in one runtime folder: calls use all of them, also while some come and go.
 */
@Timeout(300)
class SeveralServersTest extends RpcFixture {
    private static final Duration BOUND = Duration.ofSeconds(100);
    private static final int CALLS = 200;
    private static final int CALLERS = 2;

    private ChildJvm server(String... wishes) throws Exception {
        List<Object> arguments = new ArrayList<>(List.of(directory));
        arguments.addAll(List.of(wishes));
        ChildJvm child = keep(ChildJvm.of(TillServer.class, arguments.toArray()).start());
        child.awaitLine("serving");
        return child;
    }

    private Till till() {
        return open(channel(Till.class)).stub(Till.class, within(BOUND));
    }

    private static Set<Long> pids(ChildJvm... servers) {
        Set<Long> pids = new HashSet<>();
        for (ChildJvm server : servers) {
            pids.add(server.pid());
        }
        return pids;
    }

    /** The servers that have answered this many calls. */
    private static Set<Long> answering(Till till) {
        Set<Long> pids = new HashSet<>();
        for (int i = 0; i < CALLS; i++) {
            pids.add(till.pid());
        }
        return pids;
    }

    private static void awaitAnswering(Till till, ChildJvm... servers) {
        Await.equal("servers that answer", pids(servers), () -> answering(till));
    }

    /** Calls all the time, until it is told to stop; a call that fails ends it. */
    private static CompletableFuture<Integer> callUntil(AtomicBoolean over, Till till) {
        return Concurrently.start(() -> {
            int calls = 0;
            for (; !over.get(); calls++) {
                assertThat(till.pidAgain()).isPositive();
            }
            return calls;
        });
    }

    @Test
    void shouldUseAllServersAndNoneThatIsKilledAndNewOnes() throws Exception {
        ChildJvm first = server();
        ChildJvm second = server();
        Till till = till();
        awaitAnswering(till, first, second);
        AtomicBoolean over = new AtomicBoolean();
        CompletableFuture<Integer> repeated = callUntil(over, till);
        try {
            for (int i = 0; i < 3; i++) {
                ChildJvm next = server();
                awaitAnswering(till, first, second, next);
                first.kill();
                Await.until("calls avoid the dead server", () -> codeOf(() -> answering(till)) == Status.Code.OK);
                awaitAnswering(till, second, next);
                first = second;
                second = next;
            }
        } finally {
            over.set(true);
        }
        assertThat(repeated).as("idempotent calls, of which none failed").succeedsWithin(BOUND);
        assertThat(repeated.join()).isPositive();
    }

    @Test
    void shouldRepeatOnlyIdempotentCallsOfAKilledServer() throws Exception {
        ChildJvm first = server();
        ChildJvm second = server();
        List<CompletableFuture<Long>> repeated = new ArrayList<>();
        List<CompletableFuture<Status.Code>> once = new ArrayList<>();
        // Each on a channel of its own, which has no call in flight at either server: it soon picks the first one.
        for (int i = 0; i < CALLERS; i++) {
            Till till = till();
            awaitAnswering(till, first, second);
            repeated.add(Concurrently.start(() -> {
                long pid;
                do {
                    pid = till.stickInAgain(first.pid());
                } while (first.isAlive());
                return pid;
            }));
            first.awaitLine("stuck");
            Till other = till();
            awaitAnswering(other, first, second);
            once.add(Concurrently.start(() -> codeOf(() -> {
                while (first.isAlive()) {
                    other.stickIn(first.pid());
                }
            })));
            first.awaitLine("stuck");
        }
        first.kill();
        for (CompletableFuture<Long> each : repeated) {
            assertThat(each).succeedsWithin(BOUND).isEqualTo(second.pid());
        }
        for (CompletableFuture<Status.Code> each : once) {
            assertThat(each).succeedsWithin(BOUND).isEqualTo(Status.Code.UNAVAILABLE);
        }
    }

    @Test
    void shouldLoseNoCallWhenAServerDrains() throws Exception {
        ChildJvm first = server();
        ChildJvm second = server();
        Till till = till();
        awaitAnswering(till, first, second);
        // The second call goes to the server that has none in flight.
        List<CompletableFuture<Long>> inFlight = new ArrayList<>();
        inFlight.add(Concurrently.start(() -> till.work(3_000)));
        Await.until(
                "a server that works",
                () -> first.output().contains("working") || second.output().contains("working"));
        inFlight.add(Concurrently.start(() -> till.work(3_000)));
        first.awaitLine("working");
        second.awaitLine("working");
        first.send("drain");
        Await.equal("servers that take calls", pids(second), () -> answering(till));
        assertThat(first.isAlive()).isTrue();
        assertThat(Set.of(inFlight.get(0).join(), inFlight.get(1).join())).isEqualTo(pids(first, second));
        assertThat(first.awaitLine("drained")).isEqualTo("drained true");
        assertThat(answering(till)).isEqualTo(pids(second));
        ChildJvm third = server();
        awaitAnswering(till, second, third);
    }

    @Test
    void shouldSendSharedObjectsToTheServerOfTheirScope() throws Exception {
        ChildJvm first = server();
        ChildJvm second = server();
        RpcChannel channel = open(channel(Till.class));
        Till till = channel.stub(Till.class, within(BOUND));
        awaitAnswering(till, first, second);
        Set<Long> owners = new HashSet<>();
        while (owners.size() < 2) {
            try (Scope scope = channel.newScope()) {
                Till.Coin coin = scope.create(Till.Coin.class);
                coin.value(1);
                long owner = till.take(coin);
                owners.add(owner);
                for (int i = 0; i < CALLS; i++) {
                    assertThat(till.take(coin)).isEqualTo(owner);
                }
            }
        }
        Scope scope = channel.newScope();
        Till.Coin kept = scope.create(Till.Coin.class);
        kept.value(1);
        long owner = till.take(kept);
        (owner == first.pid() ? first : second).kill();
        assertFails(Status.Code.UNAVAILABLE, () -> till.take(kept));
        assertThat(till.pid()).isNotEqualTo(owner);
    }

    @Test
    void shouldSpreadChannels() throws Exception {
        ChildJvm first = server();
        ChildJvm second = server();
        Set<Long> found = new HashSet<>();
        Await.until("a channel to each server", () -> {
            try (RpcChannel channel = channel(Till.class).open()) {
                found.add(channel.stub(Till.class).pid());
            }
            return found.equals(pids(first, second));
        });
    }

    @Test
    void shouldListTheServersAsRoutes() throws Exception {
        server();
        server();
        RpcChannel channel = open(channel(Till.class));
        Await.equal("routes", 2, () -> channel.routes().size());
        assertThat(channel.routes()).allSatisfy(route -> {
            assertThat(route.kind()).isEqualTo(Route.Kind.HOST);
            assertThat(route.state()).isEqualTo(Route.State.USED);
            assertThat(route.address()).contains(directory.toString(), "test+till@");
        });
    }

    @Test
    void shouldNameTheOwnerOfAnExclusiveName() throws Exception {
        ChildJvm owner = server("exclusive");
        assertFails(Status.Code.ALREADY_EXISTS, serving(Till.class, new TillServer())::start)
                .hasMessageContainingAll("/test/till", "(pid " + owner.pid() + ")", "that one is exclusive");
        owner.kill();
        serve(Till.class, new TillServer());
        assertFails(
                        Status.Code.ALREADY_EXISTS,
                        serving(Till.class, new TillServer()).exclusive()::start)
                .hasMessageContainingAll(
                        "/test/till", "(pid " + ProcessHandle.current().pid() + ")", "this one is exclusive");
        assertThat(till().pid()).isPositive();
    }

    /** Of exclusive servers that start at the same time, one stays. */
    @Test
    void shouldHaveOneExclusiveServer() throws Exception {
        for (int i = 0; i < 5; i++) {
            List<CompletableFuture<Status.Code>> starts = new ArrayList<>();
            List<RpcServer> started = new CopyOnWriteArrayList<>();
            for (int j = 0; j < 3; j++) {
                starts.add(Concurrently.start(() -> codeOf(() -> started.add(
                        serving(Till.class, new TillServer()).exclusive().start()))));
            }
            List<Status.Code> codes =
                    starts.stream().map(Concurrently::get).sorted().toList();
            assertThat(codes).containsExactly(Status.Code.OK, Status.Code.ALREADY_EXISTS, Status.Code.ALREADY_EXISTS);
            started.forEach(RpcServer::close);
        }
    }

    @Test
    void shouldNotListDeadServers() throws Exception {
        serve(Echo.class, new EchoService());
        ChildJvm killed = server();
        RuntimeDirectory servers = RuntimeDirectory.at(directory);
        assertThat(servers.channels()).containsExactly("/test/echo", "/test/till");
        killed.kill();
        assertThat(servers.channels()).containsExactly("/test/echo");
        assertFails(Status.Code.NOT_FOUND, () -> channel("/no/such").open())
                .hasMessageContaining("there now: [/test/echo]");
        assertFails(Status.Code.NOT_FOUND, channel(Till.class)::open).hasMessageContaining("there now: [/test/echo]");
        assertThat(servers.all())
                .as("files")
                .allSatisfy(each -> assertThat(each.channel()).isEqualTo("/test/echo"));
    }

    @Test
    void shouldServeUnderANameGivenAtRunTime() {
        serve(RpcServer.builder()
                .service(Echo.class, new EchoService(), "/eu/echo")
                .service(Echo.class, new EchoService(), "/us/echo")
                .runtimeFolder(directory));
        Echo europe = open(channel("/eu/echo")).stub(Echo.class);
        europe.note("in Europe");
        assertThat(europe.add(1, 2)).isEqualTo(3);
        assertThat(open(channel("/us/echo")).stub(Echo.class).notes()).isEmpty();
        assertFails(Status.Code.NOT_FOUND, channel(Echo.class)::open).hasMessageContaining("[/eu/echo, /us/echo]");
        assertFails(
                        Status.Code.ALREADY_EXISTS,
                        () -> RpcServer.builder()
                                .service(Echo.class, new EchoService())
                                .service(Echo.class, new EchoService()))
                .hasMessageContaining("service(Echo.class, implementation");
    }
}
