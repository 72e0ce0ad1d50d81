package dev.rackcall.directory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.InstanceOfAssertFactories.type;

import dev.rackcall.directory.DirectoryException.Reason;
import dev.rackcall.testkit.Await;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract of every directory, for each kind of store. */
public abstract class DirectoryContractTest {
    private static final ChannelName CART = ChannelName.of("/shop/cart");
    private static final long CART_INTERFACE = 0xcafe;
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final List<AutoCloseable> open = new ArrayList<>();
    private Directory ours;
    private Directory theirs;

    /** The address of an empty directory. */
    protected abstract URI address() throws Exception;

    /** The options of this test's members. */
    protected abstract DirectoryOptions options();

    /** A member whose lease can be made to end as a long pause would end it. */
    public record Losable(Directory directory, LeaseEnd end) {}

    @FunctionalInterface
    public interface LeaseEnd {
        void make() throws Exception;
    }

    /** Opens such a member; others may lose their leases with it. */
    protected abstract Losable losable() throws Exception;

    /** A member over a store that the test has opened itself. */
    protected static Directory over(DirectoryStore store) {
        return Directory.over(store);
    }

    @BeforeEach
    void openTwo() throws Exception {
        ours = member();
        theirs = member();
    }

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable one : open.reversed()) {
            one.close();
        }
    }

    private Directory member() throws Exception {
        return keep(Directory.open(address(), options()));
    }

    private <T extends AutoCloseable> T keep(T item) {
        open.add(item);
        return item;
    }

    private static Endpoint endpoint(String id) {
        return Endpoint.of(id, "host-a", CART_INTERFACE)
                .withPool("dax0.0")
                .withRdma(List.of(URI.create("rdma://10.0.0.1:18515")))
                .withTcp(List.of(URI.create("tcp://10.0.0.1:18516")));
    }

    private static List<String> ids(List<Endpoint> endpoints) {
        return endpoints.stream().map(Endpoint::id).toList();
    }

    @Test
    void shouldShowAnEndpointToOthersAsItWasAnnounced() throws Exception {
        ChannelView view = keep(theirs.follow(CART));

        ours.announce(CART, endpoint("a"));

        assertThat(view.await(PATIENCE)).containsExactly(endpoint("a"));
        assertThat(view.isCurrent()).isTrue();
        assertThat(theirs.endpoints(CART)).containsExactly(endpoint("a"));
    }

    @Test
    void shouldShowEndpointsAnnouncedBeforeFollowing() throws Exception {
        ours.announce(CART, endpoint("a"));

        assertThat(keep(theirs.follow(CART)).await(PATIENCE)).containsExactly(endpoint("a"));
    }

    @Test
    void shouldReportAddedChangedAndRemovedEndpoints() throws Exception {
        ChannelView view = keep(theirs.follow(CART));
        BlockingQueue<ChannelChange> changes = new LinkedBlockingQueue<>();
        view.listen(change -> {
            throw new IllegalStateException("a listener that throws, told of " + change);
        });
        view.listen(changes::add);

        Announcement announcement = ours.announce(CART, endpoint("a"));
        assertThat(next(changes).added()).containsExactly(endpoint("a"));
        announcement.update(endpoint("a").withLoad(7));
        assertThat(next(changes).changed()).containsExactly(endpoint("a").withLoad(7));
        announcement.close();
        announcement.close();

        ChannelChange last = next(changes);
        assertThat(last.gone()).containsExactly(endpoint("a").withLoad(7));
        assertThat(last.now()).isEmpty();
        assertThat(view.endpoints()).isEmpty();
        assertThat(announcement.isStanding()).isFalse();
    }

    private static ChannelChange next(BlockingQueue<ChannelChange> changes) throws InterruptedException {
        ChannelChange change = changes.poll(PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
        assertThat(change).as("a change").isNotNull();
        return change;
    }

    @Test
    void shouldInformALateListener() throws Exception {
        ours.announce(CART, endpoint("a"));
        ChannelView view = keep(theirs.follow(CART));
        view.await(PATIENCE);
        BlockingQueue<ChannelChange> changes = new LinkedBlockingQueue<>();

        view.listen(changes::add);

        assertThat(next(changes).added()).containsExactly(endpoint("a"));
    }

    @Test
    void shouldKeepSeveralEndpointsOfAChannelById() throws Exception {
        ours.announce(CART, endpoint("b"));
        theirs.announce(CART, endpoint("a"));
        ChannelView view = keep(ours.follow(CART));

        Await.until("both", () -> ids(view.endpoints()).equals(List.of("a", "b")));
        assertThat(ids(theirs.endpoints(CART))).containsExactly("a", "b");
    }

    @Test
    void shouldKeepAChannelAndThoseBelowItApart() throws Exception {
        ours.announce(ChannelName.of("/shop"), endpoint("a"));
        ours.announce(CART, endpoint("b"));
        Announcement third = ours.announce(ChannelName.of("/shop/cart/v2"), endpoint("c"));

        assertThat(theirs.channels())
                .extracting(ChannelName::text)
                .containsExactly("/shop", "/shop/cart", "/shop/cart/v2");
        assertThat(ids(theirs.endpoints(CART))).containsExactly("b");
        third.close();
        assertThat(theirs.channels()).extracting(ChannelName::text).containsExactly("/shop", "/shop/cart");
    }

    @Test
    void shouldRefuseASecondEndpointOfTheSameId() {
        ours.announce(CART, endpoint("a"));

        assertThatThrownBy(() -> theirs.announce(CART, endpoint("a")))
                .asInstanceOf(type(DirectoryException.class))
                .satisfies(e -> assertThat(e.reason()).isEqualTo(Reason.CONFLICT))
                .satisfies(e -> assertThat(e).hasMessageContaining("/shop/cart").hasMessageContaining("host-a"));
        assertThat(ids(ours.endpoints(CART))).containsExactly("a");
    }

    /** A rolling upgrade needs this; clients compare the versions when they connect. */
    @Test
    void shouldHaveEndpointsWithDifferentVersionsOfAnInterface() {
        ours.announce(CART, endpoint("a"));
        theirs.announce(CART, Endpoint.of("b", "host-b", 0xbeef));

        assertThat(ids(ours.endpoints(CART))).containsExactlyInAnyOrder("a", "b");
        assertThat(ours.endpoints(CART)).extracting(Endpoint::fingerprint).doesNotHaveDuplicates();
    }

    @Test
    void shouldRefuseAnUpdateThatIsAnotherEndpoint() {
        Announcement announcement = ours.announce(CART, endpoint("a"));

        assertThatThrownBy(() -> announcement.update(endpoint("b"))).isInstanceOf(DirectoryException.class);
        assertThat(announcement.endpoint()).isEqualTo(endpoint("a"));
    }

    @Test
    void shouldWaitForAnUnknownChannelOnlyAsLongAsAsked() throws Exception {
        ChannelView view = keep(theirs.follow(ChannelName.of("/nothing")));

        assertThat(view.await(Duration.ofMillis(50))).isEmpty();
        assertThat(theirs.endpoints(ChannelName.of("/nothing"))).isEmpty();
    }

    @Test
    void shouldWithdrawEverythingWhenAMemberLeaves() throws Exception {
        ours.announce(CART, endpoint("a"));
        int id = ours.claimArenas(1, () -> {}).ids().getFirst();
        ChannelView view = keep(theirs.follow(CART));
        view.await(PATIENCE);
        CountDownLatch gone = new CountDownLatch(1);
        keep(theirs.watchArena(id, gone::countDown));

        ours.close();

        Await.until("the endpoint's end", () -> view.endpoints().isEmpty());
        assertThat(gone.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThatThrownBy(() -> ours.announce(CART, endpoint("b")))
                .isInstanceOfSatisfying(
                        DirectoryException.class, e -> assertThat(e.reason()).isEqualTo(Reason.CLOSED));
    }

    @Test
    void shouldFreeWhatAKilledProcessHeldAndNotifyTheOthers() throws Exception {
        ours.setLimits(new Limits(Long.MAX_VALUE, 5));
        try (DirectoryMember child = DirectoryMember.start(address(), options(), CART, endpoint("killed"))) {
            ChannelView view = keep(ours.follow(CART));
            assertThat(ids(view.await(PATIENCE))).containsExactly("killed");
            CountDownLatch gone = new CountDownLatch(1);
            keep(ours.watchArena(child.arenaId(), gone::countDown));

            child.kill();

            Await.until("the endpoint's end", () -> view.endpoints().isEmpty());
            assertThat(gone.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
            ours.setLimits(new Limits(Long.MAX_VALUE, child.arenaId()));
            Set<Integer> all =
                    new HashSet<>(ours.claimArenas(child.arenaId(), () -> {}).ids());
            assertThat(all).contains(child.arenaId());
        }
    }

    @Test
    void shouldAnnounceAgainWhenALeaseWasLostAndLetGoOfArenas() throws Exception {
        Losable member = losable();
        Directory paused = keep(member.directory());
        Announcement announcement = paused.announce(CART, endpoint("paused"));
        MemoryClaim memory = paused.claimMemory(4096);
        CountDownLatch told = new CountDownLatch(1);
        ArenaClaim arenas = paused.claimArenas(2, told::countDown);
        ChannelView view = keep(ours.follow(CART));
        view.await(PATIENCE);

        member.end().make();

        assertThat(told.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(arenas.isHeld()).isFalse();
        assertThatThrownBy(arenas::ids)
                .isInstanceOfSatisfying(
                        DirectoryException.class, e -> assertThat(e.reason()).isEqualTo(Reason.LEASE_LOST));
        Await.until("the announcement", announcement::isStanding);
        Await.until("the lease", paused::isLeaseHeld);
        Await.until("the endpoint", () -> ids(view.endpoints()).equals(List.of("paused")));
        announcement.update(endpoint("paused").withLoad(1));
        Await.until(
                "the load",
                () -> view.endpoints().equals(List.of(endpoint("paused").withLoad(1))));
        assertThat(paused.claimArenas(1, () -> {}).ids()).hasSize(1);
        memory.close();
        arenas.close();
    }

    @Test
    void shouldGiveEachArenaIdToOneMemberOnly() throws Exception {
        ours.setLimits(new Limits(Long.MAX_VALUE, 40));
        List<Directory> members = List.of(ours, theirs, member());
        Set<Integer> given = new HashSet<>();
        List<Integer> twice = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(members.size())) {
            List<Future<List<Integer>>> claims = members.stream()
                    .map(one -> threads.submit(() -> {
                        List<Integer> ids = new ArrayList<>();
                        for (int i = 0; i < 6; i++) {
                            ids.addAll(one.claimArenas(2, () -> {}).ids());
                        }
                        return ids;
                    }))
                    .toList();
            for (Future<List<Integer>> claim : claims) {
                claim.get().stream().filter(id -> !given.add(id)).forEach(twice::add);
            }
        }
        assertThat(twice).isEmpty();
        assertThat(given).hasSize(36).allMatch(id -> id >= 1 && id <= 40);
    }

    @Test
    void shouldSayThatArenaIdsAreExhaustedAndTakeNone() {
        ours.setLimits(new Limits(Long.MAX_VALUE, 3));
        ArenaClaim two = ours.claimArenas(2, () -> {});

        assertThatThrownBy(() -> theirs.claimArenas(2, () -> {}))
                .isInstanceOfSatisfying(
                        DirectoryException.class, e -> assertThat(e.reason()).isEqualTo(Reason.EXHAUSTED))
                .hasMessageContaining("of 3 arena ids 1 are free, not the 2 asked for");
        assertThat(theirs.claimArenas(1, () -> {}).ids()).hasSize(1);
        two.close();
        assertThat(theirs.claimArenas(2, () -> {}).ids()).hasSize(2);
    }

    @Test
    void shouldReportAtOnceThatAnArenaHasNoOwner() throws Exception {
        CountDownLatch gone = new CountDownLatch(1);

        keep(ours.watchArena(77, gone::countDown));

        assertThat(gone.await(PATIENCE.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void shouldHoldEachMemberToItsMemory() {
        ours.setLimits(new Limits(1000, 10));
        MemoryClaim first = theirs.claimMemory(600);
        ours.claimMemory(1000);

        assertThatThrownBy(() -> theirs.claimMemory(401))
                .isInstanceOfSatisfying(
                        DirectoryException.class, e -> assertThat(e.reason()).isEqualTo(Reason.QUOTA_EXCEEDED))
                .hasMessageContaining("has 600 bytes")
                .hasMessageContaining("may have 1000");
        first.close();
        first.close();
        assertThat(theirs.claimMemory(1000).bytes()).isEqualTo(1000);
    }

    @Test
    void shouldFindOneOfManyChannels() throws Exception {
        for (int i = 0; i < 200; i++) {
            ours.announce(ChannelName.of("/many/" + i), endpoint("e" + i));
        }

        assertThat(ids(theirs.endpoints(ChannelName.of("/many/137")))).containsExactly("e137");
        assertThat(keep(theirs.follow(ChannelName.of("/many/199"))).await(PATIENCE))
                .hasSize(1);
        assertThat(theirs.channels()).hasSize(200);
    }
}
