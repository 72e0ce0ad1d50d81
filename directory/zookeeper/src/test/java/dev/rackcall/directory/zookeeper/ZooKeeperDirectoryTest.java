package dev.rackcall.directory.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.directory.Announcement;
import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.ChannelView;
import dev.rackcall.directory.Directory;
import dev.rackcall.directory.DirectoryContractTest;
import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.DirectoryException.Reason;
import dev.rackcall.directory.DirectoryOptions;
import dev.rackcall.directory.Endpoint;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.FreePort;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.test.InstanceSpec;
import org.apache.curator.test.TestingCluster;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The contract over a real ensemble of three, and failures that only an ensemble has. */
class ZooKeeperDirectoryTest extends DirectoryContractTest {
    private static final ChannelName CART = ChannelName.of("/shop/cart");
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    /**
     * A session lasts 2 ticks at least, and a server that is behind the others by 5 is out: not sooner than a busy
     * machine deserves.
     */
    private static final int TICK_MILLIS = 500;

    private static final AtomicInteger FOLDERS = new AtomicInteger();

    private static TestingCluster ensemble;
    /** Of each test its own. */
    private final String folder = "/t" + FOLDERS.incrementAndGet();

    @BeforeAll
    static void startEnsemble() throws Exception {
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
    static void stopEnsemble() throws Exception {
        ensemble.close();
    }

    @Override
    protected URI address() {
        return address(ensemble.getConnectString());
    }

    private URI address(String servers) {
        return URI.create("zk://" + servers + folder);
    }

    @Override
    protected DirectoryOptions options() {
        // The longest lease that such an ensemble grants, twenty ticks: a pause of the machine must not end it.
        return new DirectoryOptions(Duration.ofMillis(TICK_MILLIS * 20), PATIENCE);
    }

    /** As if the servers had received no message from it for longer than its lease. */
    @Override
    protected Losable losable() {
        ZooKeeperStore store = ZooKeeperStore.open(ensemble.getConnectString(), folder, options());
        return new Losable(over(store), () -> store.zooKeeper().getTestable().injectSessionExpiration());
    }

    @Test
    void shouldLoseNothingWithAServerOfTheEnsemble() throws Exception {
        // The lease is longer than a new leader's election takes, so that it is not lost in the meantime.
        ZooKeeperStore store = ZooKeeperStore.open(ensemble.getConnectString(), folder, options());
        try (Directory server = over(store);
                Directory client = Directory.open(address(), options());
                ChannelView view = client.follow(CART)) {
            Announcement announcement = server.announce(CART, Endpoint.of("a", "host-a", 1));
            assertThat(view.await(PATIENCE)).hasSize(1);

            InstanceSpec lost = ensemble.findConnectionInstance(store.zooKeeper());
            ensemble.killServer(lost);

            server.announce(CART, Endpoint.of("b", "host-b", 1));
            Await.until("both endpoints", () -> view.endpoints().size() == 2 && view.isCurrent());
            announcement.update(Endpoint.of("a", "host-a", 1).withLoad(3));
            Await.until("the load", () -> view.endpoints().getFirst().load() == 3);
            ensemble.restartServer(lost);
        }
    }

    @Test
    void shouldKeepWhatIsKnownWhileNoServerAnswersAndGoOnAfterwards() throws Exception {
        DirectoryOptions hasty = options().withTimeout(Duration.ofSeconds(3));
        try (TestingServer alone = new TestingServer(spec(1), true);
                Directory server = Directory.open(address(alone.getConnectString()), hasty);
                Directory client = Directory.open(address(alone.getConnectString()), hasty);
                ChannelView view = client.follow(CART)) {
            server.announce(CART, Endpoint.of("a", "host-a", 1));
            view.await(PATIENCE);

            alone.stop();

            Await.until("the loss to be noticed", () -> !view.isCurrent());
            assertThat(view.endpoints()).hasSize(1);
            assertThatThrownBy(() -> client.announce(CART, Endpoint.of("b", "host-b", 1)))
                    .isInstanceOf(DirectoryException.class)
                    .hasMessageContaining(alone.getConnectString());
            alone.restart();
            Await.until("the view to be current", view::isCurrent);
            Await.until("the endpoint", () -> view.endpoints().size() == 1 && server.isLeaseHeld());
            Await.until("new announcements", () -> announces(client));
        }
    }

    @Test
    void shouldWithdrawAnEndpointAsSoonAsTheServerIsBack() throws Exception {
        // The lease is the longest that such a server grants: it must not end before the server is back.
        DirectoryOptions hasty = new DirectoryOptions(Duration.ofMillis(20 * TICK_MILLIS), Duration.ofSeconds(3));
        try (TestingServer alone = new TestingServer(spec(1), true);
                Directory server = Directory.open(address(alone.getConnectString()), hasty);
                Directory client = Directory.open(address(alone.getConnectString()), hasty);
                ChannelView view = client.follow(CART)) {
            Announcement announcement = server.announce(CART, Endpoint.of("a", "host-a", 1));
            server.announce(CART, Endpoint.of("b", "host-b", 1));
            Await.until("both", () -> view.endpoints().size() == 2);
            alone.stop();

            assertThatThrownBy(announcement::close)
                    .isInstanceOfSatisfying(
                            DirectoryException.class,
                            e -> assertThat(e.reason()).isEqualTo(Reason.UNAVAILABLE));
            alone.restart();

            // Only "a" is to go. With a new lease "b" is announced again, but a test that relied on that would show
            // nothing.
            Await.until(
                    "its withdrawal",
                    () -> view.endpoints().stream().map(Endpoint::id).toList().equals(List.of("b")));
        }
    }

    @Test
    void shouldOwnWhatAnUnansweredCreationHasMade() throws Exception {
        try (ZooKeeperStore store = ZooKeeperStore.open(ensemble.getConnectString(), folder, options())) {
            store.put("/folder", new byte[0]);
            String path = unanswered(store, "/folder/");
            Await.until("the node", () -> store.get(path).isPresent());

            assertThat(store.create(path, new byte[] {2})).isTrue();

            assertThat(store.get(path)).contains(new byte[] {2});
            assertThat(store.create(path, new byte[] {3})).isFalse();
        }
    }

    /** Sends a creation whose answer it does not await; returns its path. */
    private static String unanswered(ZooKeeperStore store, String prefix) {
        for (int i = 0; i < 10_000; i++) {
            // The request is sent, and unless the answer comes at once, the wait for it is interrupted.
            Thread.currentThread().interrupt();
            try {
                store.create(prefix + i, new byte[] {1});
            } catch (DirectoryException e) {
                assertThat(e.reason()).isEqualTo(Reason.UNAVAILABLE);
                return prefix + i;
            } finally {
                assertThat(Thread.interrupted()).isTrue();
            }
        }
        throw new AssertionError("each of 10,000 creations was answered before it was waited for");
    }

    private static boolean announces(Directory directory) {
        try (Announcement announcement = directory.announce(CART, Endpoint.of("c", "host-c", 1))) {
            return announcement.isStanding();
        } catch (DirectoryException e) {
            return false;
        }
    }

    @Test
    void shouldSayThatNoServerAnswers() {
        URI nobody = URI.create("zk://127.0.0.1:1/x");

        assertThatThrownBy(() -> Directory.open(nobody, options().withTimeout(Duration.ofMillis(300))))
                .isInstanceOfSatisfying(
                        DirectoryException.class, e -> assertThat(e.reason()).isEqualTo(Reason.UNAVAILABLE))
                .hasMessageContaining("127.0.0.1:1")
                .hasMessageContaining("300 ms");
    }

    @Test
    void shouldSayHowAnAddressIsWritten() {
        for (String wrong :
                List.of("zk:nowhere", "zk://host", "zk://host:2181/a b".replace(" ", "%20"), "zk://h:1,,h:2")) {
            assertThatThrownBy(() -> Directory.open(URI.create(wrong)))
                    .as(wrong)
                    .isInstanceOfSatisfying(
                            DirectoryException.class,
                            e -> assertThat(e.reason()).isEqualTo(Reason.INVALID))
                    .hasMessageContaining("zk://host:2181");
        }
        assertThatThrownBy(() -> Directory.open(URI.create("etcd://host:1")))
                .isInstanceOf(DirectoryException.class)
                .hasMessageContaining("zk:")
                .hasMessageContaining("file:");
    }

    @Test
    void shouldPassOverNodesThatSomebodyElseHasWritten() throws Exception {
        try (Directory directory = Directory.open(address(), options());
                ZooKeeperStore store = ZooKeeperStore.open(ensemble.getConnectString(), folder, options())) {
            store.put("/channels/shop/cart/@/junk", new byte[] {1, 2, 3});
            directory.announce(CART, Endpoint.of("a", "host-a", 1));

            assertThat(directory.endpoints(CART)).extracting(Endpoint::id).containsExactly("a");
        }
    }
}
