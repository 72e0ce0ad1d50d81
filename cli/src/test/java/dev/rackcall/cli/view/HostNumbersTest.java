package dev.rackcall.cli.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.cli.top.TopWatch;
import dev.rackcall.cp.Tenant;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.testkit.Await;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What an agent answers, and what that costs its host. */
class HostNumbersTest {
    @TempDir
    private Path folder;

    private final FakeWatch watch = new FakeWatch();

    private ViewSampler start(Duration patience) {
        return ViewSampler.start(new ViewHistory("a", "", _ -> Optional.empty()), watch::start, patience);
    }

    private static ViewState await(HostView agent, long after) {
        AtomicReference<Optional<ViewState>> found = new AtomicReference<>(Optional.empty());
        Await.until("news", () -> {
            found.set(agent.latest(after));
            return found.get().isPresent();
        });
        return found.get().orElseThrow();
    }

    @Test
    void shouldCostOneWatchForAllReadersAndNoneWithoutThem() throws InterruptedException {
        try (ViewSampler sampler = start(Duration.ofSeconds(2))) {
            HostView agent = new HostNumbers.Answers(sampler);
            assertThat(watch.starts).hasValue(0);
            watch.report = Rows.report(Rows.connection(7, "/shop/cart", 1, 2));
            ViewState first = await(agent, 0);
            assertThat(first.connections()).hasSize(1);
            Await.until("the end of the watch without readers", () -> watch.ends.get() == watch.starts.get());
            long last = sampler.latest().sequence();
            assertThat(await(agent, 0).sequence())
                    .as("not what was seen before the pause")
                    .isGreaterThan(Math.max(last, first.sequence()));
        }
    }

    /** As in a thread that pays no heed to interrupts. */
    static void awaitAnyhow(CountDownLatch latch) {
        boolean interrupted = false;
        while (true) {
            try {
                latch.await();
                break;
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void shouldWithdrawAllAlsoIfItsCloseIsInterrupted() throws Exception {
        CountDownLatch said = new CountDownLatch(1);
        CountDownLatch end = new CountDownLatch(1);
        try (PlayedRack rack = new PlayedRack(folder)) {
            Tenant tenant = rack.admit("numbers");
            HostNumbers numbers = HostNumbers.serve(
                    tenant,
                    "here",
                    rack.directory(),
                    folder.resolve("run-here"),
                    () -> TopWatch.of(rack.processesHere()),
                    line -> {
                        if (line.startsWith("serves")) {
                            said.countDown();
                            awaitAnyhow(end);
                        }
                    });
            said.await();
            assertThat(rack.tellers()).hasSize(1);
            Thread.currentThread().interrupt();
            assertThatThrownBy(numbers::close).isInstanceOf(InterruptedException.class);
            assertThat(rack.tellers()).isEmpty();
            assertThat(tenant.isClosed()).isTrue();
        } finally {
            end.countDown();
        }
    }

    private static RpcChannel open(URI address, Deque<RpcChannel> readers) {
        RpcChannel channel =
                AgentWatch.open(RpcChannel.builder(HostView.CHANNEL).address(address), Await.BOUND);
        readers.push(channel);
        return channel;
    }

    @Test
    void shouldServeSixteenReadersAndRefuseAnother() throws Exception {
        Deque<RpcChannel> readers = new ArrayDeque<>();
        try (PlayedRack rack = new PlayedRack(folder)) {
            rack.host("a");
            URI address = rack.tellers().getFirst().tcp().getFirst();
            try {
                for (int reader = 0; reader < 16; reader++) {
                    HostView agent = open(address, readers).stub(HostView.class);
                    assertThat(await(agent, 0).host()).isEqualTo("a");
                }
                assertThatThrownBy(() ->
                                open(address, readers).stub(HostView.class).latest(0))
                        .isInstanceOf(RpcException.class)
                        .hasMessageContaining("all 16 connections are taken");
                HostView first = readers.peekLast().stub(HostView.class);
                assertThat(await(first, 0).host()).as("a reader among them").isEqualTo("a");
                readers.pollLast().close();
                Await.until("a place for another", () -> {
                    try {
                        return open(address, readers).stub(HostView.class).latest(0) != null;
                    } catch (RpcException e) {
                        assertThat(e).hasMessageContaining("all 16 connections are taken");
                        return false;
                    }
                });
            } finally {
                readers.forEach(RpcChannel::close);
            }
        }
    }

    @Test
    void shouldEndAServerThatStartsAfterItsClose() throws Exception {
        CountDownLatch starts = new CountDownLatch(1);
        CountDownLatch closed = new CountDownLatch(1);
        try (PlayedRack rack = new PlayedRack(folder);
                ViewSampler sampler = start(ViewSampler.PATIENCE);
                RpcServer server = RpcServer.builder()
                        .service(HostView.class, new HostNumbers.Answers(sampler))
                        .runtimeFolder(folder.resolve("run-here"))
                        .start()) {
            HostNumbers numbers = HostNumbers.serve(
                    rack.admit("numbers"),
                    sampler,
                    () -> {
                        starts.countDown();
                        awaitAnyhow(closed);
                        return server;
                    },
                    _ -> {});
            starts.await();
            Thread.currentThread().interrupt();
            assertThatThrownBy(numbers::close).isInstanceOf(InterruptedException.class);
            closed.countDown();
            assertThat(server.awaitTermination(Await.BOUND)).isTrue();
        } finally {
            closed.countDown();
        }
    }

    @Test
    void shouldGiveAMomentOnlySoOften() throws InterruptedException {
        watch.most = 1;
        try (ViewSampler sampler = start(Duration.ofHours(1))) {
            HostView agent = new HostNumbers.Answers(sampler);
            long sequence = await(agent, 0).sequence();
            int answers = 1;
            while (agent.latest(0).isPresent()) {
                answers++;
            }
            assertThat(answers).isEqualTo(HostNumbers.Answers.MOST_ANSWERS);
            assertThat(agent.latest(sequence)).isEmpty();
            assertThat(watch.starts).hasValue(1);
        }
    }
}
