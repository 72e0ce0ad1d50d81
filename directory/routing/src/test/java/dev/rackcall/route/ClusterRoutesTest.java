package dev.rackcall.route;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;
import static org.junit.jupiter.api.Assertions.assertTimeout;

import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import dev.rackcall.testkit.FreePort;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Calls whose servers are found in ZooKeeper: an ensemble of three in this process, some of whose members fail. */
class ClusterRoutesTest extends RoutesFixture {
    private static final int TICK_MILLIS = 500;

    private static TestingCluster ensemble;

    /** The longest lease that such an ensemble grants, twenty ticks: a pause of the machine must not end it. */
    private String lease = "10s";

    @BeforeAll
    static void start() throws Exception {
        // Servers fail here, disks do not: no write has to reach the disk before it is answered.
        System.setProperty("zookeeper.forceSync", "no");
        List<InstanceSpec> specs = new ArrayList<>();
        for (int i = 1; i <= 3; i++) {
            specs.add(spec(i));
        }
        ensemble = new TestingCluster(specs);
        ensemble.start();
    }

    /** A server at ports that stay free while it is away; curator's own choice is one that the kernel also assigns. */
    private static InstanceSpec spec(int number) {
        return new InstanceSpec(
                null, FreePort.find(), FreePort.find(), FreePort.find(), true, number, TICK_MILLIS, 200);
    }

    @AfterAll
    static void stop() throws IOException {
        ensemble.close();
    }

    @Override
    URI members() {
        // Longer than a new leader's election takes on a busy machine.
        return URI.create(members(ensemble.getConnectString()) + "&timeout=30s");
    }

    private URI members(String servers) {
        return URI.create("zk://" + servers + "/" + folder.getFileName() + "?lease=" + lease);
    }

    @Test
    void shouldLoseNoCallWithAMemberOfTheEnsemble() throws Exception {
        AtomicBoolean ending = new AtomicBoolean();
        AtomicLong calls = new AtomicLong();
        List<RpcException> failures = new ArrayList<>();
        try (RpcServer one =
                        server("a", new NumbersService("one")).listen(ANY_PORT).start();
                RpcChannel channel = channelOf("b", members()).open()) {
            Numbers numbers = channel.stub(Numbers.class);
            Thread caller = Thread.ofPlatform().start(() -> {
                while (!ending.get()) {
                    try {
                        numbers.whoAgain();
                        calls.incrementAndGet();
                    } catch (RpcException e) {
                        failures.add(e);
                    }
                }
            });
            InstanceSpec lost = ensemble.getInstances().iterator().next();
            ensemble.killServer(lost);
            long before = calls.get();
            Await.until("calls while a member is lost", () -> calls.get() > before + 100);

            // New servers are found, too: two members are enough.
            try (RpcServer two =
                    server("c", new NumbersService("two")).listen(ANY_PORT).start()) {
                Await.until(
                        "the second server",
                        () -> channel.routes().stream()
                                .anyMatch(route -> route.host().equals("c") && route.state() == Route.State.USED));
                assertThat(two.channels()).isEqualTo(one.channels());
            }
            ensemble.restartServer(lost);
            ending.set(true);
            caller.join();
        }
        // Not even by the end of the second server: these calls may be repeated.
        assertThat(failures).isEmpty();
    }

    @Test
    void shouldStopNamingAServerThatWasKilledOnceItsLeaseHasEnded() throws Exception {
        // Shorter, since the test waits for its end.
        lease = "8s";
        try (ChildJvm child = child("a", "one")) {
            try (RpcChannel channel = channelOf("b", members()).open()) {
                Numbers numbers = channel.stub(Numbers.class);
                assertThat(numbers.who()).isEqualTo("one");

                child.kill();

                // Its entry remains until its lease has ended, but misleads no client.
                RpcException stale = catchThrowableOfType(RpcException.class, numbers::whoAgain);
                assertThat(stale.code()).isEqualTo(Status.Code.UNAVAILABLE);
                assertThat(stale).hasMessageContaining("no server is listening at");
                Await.until("the end of its lease", () -> channel.routes().isEmpty());
                RpcException gone = catchThrowableOfType(RpcException.class, numbers::whoAgain);
                assertThat(gone).hasMessageContaining("names no server of channel /test/numbers any more");

                try (RpcServer next =
                        server("c", new NumbersService("two")).listen(ANY_PORT).start()) {
                    Await.until("the next server", () -> isAnswered(numbers, "two"));
                    assertThat(next.channels()).containsExactly("/test/numbers");
                }
            }
        }
    }

    /** Far less than it would take if each channel's withdrawal waited for the directory by itself. */
    @Test
    void shouldNotWaitForADirectoryThatIsAwayWhenItEnds() throws Exception {
        try (TestingServer alone = new TestingServer(spec(1), true)) {
            URI patient = URI.create(members(alone.getConnectString()) + "&timeout=60s");
            RpcServer server = RpcServer.builder()
                    .service(Numbers.class, new NumbersService("one"))
                    .runtimeFolder(folder.resolve("a"))
                    .directory(patient)
                    .start();
            alone.stop();

            assertTimeout(Duration.ofSeconds(20), () -> server.shutdown(Duration.ofSeconds(5)));
        }
    }

    @Test
    void shouldSayThatNoMemberAnswers() {
        URI nobody = URI.create("zk://127.0.0.1:1/x?timeout=1s");
        RpcException server = catchThrowableOfType(
                RpcException.class,
                () -> RpcServer.builder()
                        .service(Numbers.class, new NumbersService("one"))
                        .runtimeFolder(folder.resolve("a"))
                        .directory(nobody)
                        .start());

        assertThat(server.code()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(server).hasMessageContaining("127.0.0.1:1").hasMessageContaining("are they running");
    }
}
