package dev.rackcall.cli.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.cli.view.RackReport.RackAgent;
import dev.rackcall.cli.view.RackReport.RackServer;
import dev.rackcall.directory.Announcement;
import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.Directory;
import dev.rackcall.directory.DirectoryException;
import dev.rackcall.directory.Endpoint;
import dev.rackcall.testkit.Await;
import java.net.URI;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the page learns of other hosts from a directory. */
class RackWatchTest {
    private static final ChannelName CART = ChannelName.of("/shop/cart");
    private static final ChannelName STOCK = ChannelName.of("/shop/stock");

    @TempDir
    private Path folder;

    /** Follows none. */
    private static RackHosts hosts() {
        return new RackHosts(
                agent -> {
                    throw new AssertionError("not named: " + agent);
                },
                ViewHistory.GONE);
    }

    private static RackReport report(RackWatch watch) {
        return watch.report().orElseThrow();
    }

    @Test
    void shouldListTheServersThatADirectoryNamesWhileTheyAreAnnounced() throws Exception {
        URI address = folder.resolve("directory").toUri();
        try (Directory directory = Directory.open(address);
                Announcement here = directory.announce(CART, Endpoint.of("a", "here", 1))) {
            Announcement other = directory.announce(
                    STOCK,
                    Endpoint.of("b", "other", 1)
                            .withPool("pool")
                            .withRdma(List.of(URI.create("rdma://10.0.0.1:4000"))));
            try (RackWatch watch = RackWatch.start(address, "here", hosts())) {
                RackServer cart = new RackServer("here", true, "/shop/cart", "a", List.of(), 0);
                RackServer stock = new RackServer("other", false, "/shop/stock", "b", List.of("POOL", "RDMA"), 0);
                assertThat(report(watch).servers()).containsExactly(cart, stock);
                assertThat(report(watch).problem()).isEmpty();
                other.close();
                Await.equal("the servers", List.of(cart), () -> report(watch).servers());
            }
            assertThat(here.channel()).isEqualTo(CART);
        }
    }

    @Test
    void shouldKeepTheLastServersIfTheDirectoryFails() throws Exception {
        URI address = folder.resolve("directory").toUri();
        try (Directory directory = Directory.open(address)) {
            Announcement cart = directory.announce(CART, Endpoint.of("a", "other", 1));
            RackWatch watch = RackWatch.start(address, "here", hosts());
            assertThat(report(watch).servers()).hasSize(1);
            watch.close();
            cart.close();
            assertThat(watch.ask().problem()).isPresent();
            assertThat(watch.ask().servers()).hasSize(1);
        }
    }

    @Test
    void shouldGoOnAfterAnotherFailure() throws Exception {
        RackServer cart = new RackServer("other", false, "/shop/cart", "a", List.of(), 0);
        AtomicBoolean broken = new AtomicBoolean();
        Directory directory = Directory.open(folder.resolve("directory").toUri());
        try (RackWatch watch = RackWatch.start(
                directory,
                () -> {
                    if (broken.get()) {
                        throw new IllegalStateException("planted");
                    }
                    return RackReport.of(List.of(cart), List.of());
                },
                hosts())) {
            assertThat(report(watch).problem()).isEmpty();
            broken.set(true);
            Await.until(
                    "the page to be told",
                    () -> report(watch)
                            .problem()
                            .filter(text -> text.contains("planted"))
                            .isPresent());
            assertThat(report(watch).servers()).containsExactly(cart);
            broken.set(false);
            Await.until("the next look", () -> report(watch).problem().isEmpty());
        }
    }

    @Test
    void shouldTellHowMuchIsLeftOutAlsoAfterAFailure() throws Exception {
        int more = 3;
        RackReport all = RackReport.of(
                IntStream.range(0, RackWatch.MOST_SERVERS + more)
                        .mapToObj(each -> new RackServer("h", false, "/a", "s" + each, List.of(), 0))
                        .toList(),
                IntStream.range(0, RackHosts.MOST_HOSTS + more)
                        .mapToObj(each -> new RackAgent("id" + each, "h" + each, URI.create("vq://h" + each + ":1")))
                        .toList());
        FakeWatch watch = new FakeWatch();
        watch.intervalNanos = 20_000_000;
        RackHosts hosts = new RackHosts(
                agent -> ViewSampler.start(
                        new ViewHistory(agent.host(), "", _ -> Optional.empty()), watch::start, ViewSampler.PATIENCE),
                ViewHistory.GONE);
        AtomicBoolean broken = new AtomicBoolean();
        Directory directory = Directory.open(folder.resolve("directory").toUri());
        try (RackWatch rack = RackWatch.start(
                directory,
                () -> {
                    if (broken.get()) {
                        throw new IllegalStateException("planted");
                    }
                    return all;
                },
                hosts)) {
            Await.equal("hosts left out", more, () -> report(rack).hostsLeftOut());
            assertThat(report(rack).leftOut()).isEqualTo(more);
            broken.set(true);
            Await.until("the failure", () -> report(rack).problem().isPresent());
            assertThat(report(rack).leftOut()).isEqualTo(more);
            assertThat(report(rack).hostsLeftOut()).isEqualTo(more);
        }
    }

    @Test
    void shouldLeaveTheDirectoryAlsoIfItsCloseIsInterrupted() throws Exception {
        AtomicInteger questions = new AtomicInteger();
        CountDownLatch asks = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        Directory directory = Directory.open(folder.resolve("directory").toUri());
        RackWatch watch = RackWatch.start(
                directory,
                () -> {
                    if (questions.getAndIncrement() > 0) {
                        asks.countDown();
                        HostNumbersTest.awaitAnyhow(end);
                    }
                    return RackReport.of(List.of(), List.of());
                },
                hosts());
        try {
            report(watch);
            asks.await();
            Thread.currentThread().interrupt();
            assertThatThrownBy(watch::close).isInstanceOf(InterruptedException.class);
            assertThatThrownBy(directory::channels).isInstanceOf(DirectoryException.class);
        } finally {
            end.countDown();
        }
    }

    @Test
    void shouldRefuseAnAddressThatNoStoreUnderstands() {
        assertThatThrownBy(() -> RackWatch.start(URI.create("gopher://somewhere"), "here", hosts()))
                .isInstanceOf(DirectoryException.class)
                .hasMessageContaining("no store here understands");
    }
}
