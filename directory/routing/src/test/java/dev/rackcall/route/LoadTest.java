package dev.rackcall.route;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.Directory;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.testkit.Await;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Servers tell the directory how many calls they have under way, and clients that do not know it of themselves choose by it. */
@Timeout(180)
class LoadTest {
    private static final URI ANY_PORT = URI.create("rdma://127.0.0.1:0");
    private static final int SLOW_CALLS = 60;
    /** What is told by then: more is news only if it is more by half. */
    private static final int TOLD = 2 * SLOW_CALLS / 3;

    private static final int CALLS = 300;

    @TempDir
    private Path folder;

    private final NumbersService busy = new NumbersService("busy");
    private final NumbersService idle = new NumbersService("idle");
    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void close() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
    }

    private URI members() {
        return folder.resolve("members").toUri();
    }

    private void serve(String host, NumbersService service) {
        open.add(RpcServer.builder()
                .service(Numbers.class, service)
                .directory(folder.resolve(host))
                .listen(ANY_PORT)
                .arenaQuota(4 << 20)
                .directory(members())
                .host(host)
                .start());
    }

    private RpcChannel channel() {
        RpcChannel channel = RpcChannel.builder("/test/numbers")
                .directory(folder.resolve("c"))
                .arenaQuota(4 << 20)
                .connectTimeout(Duration.ofSeconds(20))
                .directory(members())
                .host("c")
                .open();
        open.add(channel);
        return channel;
    }

    @Test
    void shouldLeaveServersAloneThatOthersKeepBusyAsLongAsThatIsKnown() throws Exception {
        serve("a", busy);
        Numbers others = channel().stub(Numbers.class);
        List<CompletableFuture<String>> slow = new ArrayList<>();
        for (int i = 0; i < SLOW_CALLS; i++) {
            slow.add(others.slow());
        }
        try (Directory directory = Directory.open(members())) {
            Await.until("the load to be told", () -> loadOfTheFirst(directory) >= TOLD);
        }
        serve("b", idle);
        RpcChannel channel = channel();
        Numbers numbers = channel.stub(Numbers.class);
        Await.equal("servers in use", 2, () -> (int) channel.routes().stream()
                .filter(route -> route.state() == Route.State.USED)
                .count());
        // One of eight, by their weights.
        Await.until("fewer calls of the busy one", () -> shareOfTheBusyOne(numbers) < 0.25);

        // What nobody renews is not believed for long.
        Files.move(Path.of(members()), folder.resolve("elsewhere"));
        Await.until("as many calls of each", () -> shareOfTheBusyOne(numbers) > 0.35);
        Files.move(folder.resolve("elsewhere"), Path.of(members()));

        busy.release.complete(null);
        for (CompletableFuture<String> each : slow) {
            assertThat(each.get()).isEqualTo("busy");
        }
    }

    /** A polling thread that runs handlers has one call under way, however many there are. */
    @Test
    void shouldTellWhatWaitsForAPollingThread() {
        serve("a", busy);
        Numbers numbers = channel().stub(Numbers.class);
        Queue<CompletableFuture<String>> waiting = new ArrayDeque<>();
        try (Directory directory = Directory.open(members())) {
            Await.until("the load to be told", () -> {
                for (int i = 0; i < SLOW_CALLS; i++) {
                    if (waiting.size() == SLOW_CALLS) {
                        assertThat(waiting.remove().join()).isEqualTo("busy");
                    }
                    waiting.add(numbers.whoAfterANap());
                }
                return loadOfTheFirst(directory) >= SLOW_CALLS / 2;
            });
            waiting.forEach(CompletableFuture::join);
            Await.until("its end to be told", () -> loadOfTheFirst(directory) == 0);
        }
    }

    private static int loadOfTheFirst(Directory directory) {
        return directory.endpoints(ChannelName.of("/test/numbers")).getFirst().load();
    }

    private double shareOfTheBusyOne(Numbers numbers) {
        int before = busy.calls.get();
        for (int i = 0; i < CALLS; i++) {
            numbers.who();
        }
        return (busy.calls.get() - before) / (double) CALLS;
    }
}
