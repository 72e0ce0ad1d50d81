package dev.rackcall.route;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.Directory;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.testkit.Await;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/**
 * Servers report their calls in flight to the directory, and clients that do not know the load themselves choose by
 * that report.
 */
class LoadTest extends RoutesFixture {
    private static final int SLOW_CALLS = 60;
    /** The load reported by then: a higher load is reported only if it is higher by half. */
    private static final int TOLD = 2 * SLOW_CALLS / 3;

    private static final int CALLS = 300;

    private final NumbersService busy = new NumbersService("busy");
    private final NumbersService idle = new NumbersService("idle");

    @Test
    void shouldLeaveServersAloneThatOthersKeepBusyAsLongAsThatIsKnown() throws Exception {
        serve("a", busy);
        Numbers others = channel("c").stub(Numbers.class);
        List<CompletableFuture<String>> slow = new ArrayList<>();
        for (int i = 0; i < SLOW_CALLS; i++) {
            slow.add(others.slow());
        }
        try (Directory directory = Directory.open(members())) {
            Await.until("the load to be told", () -> loadOfTheFirst(directory) >= TOLD);
        }
        serve("b", idle);
        RpcChannel channel = channel("c");
        Numbers numbers = channel.stub(Numbers.class);
        Await.equal("servers in use", 2, () -> (int) channel.routes().stream()
                .filter(route -> route.state() == Route.State.USED)
                .count());
        // One of eight, by their weights.
        Await.until("fewer calls of the busy one", () -> shareOfTheBusyOne(numbers) < 0.25);

        // A load that is not renewed is soon ignored.
        Files.move(Path.of(members()), folder.resolve("elsewhere"));
        Await.until("as many calls of each", () -> shareOfTheBusyOne(numbers) > 0.35);
        Files.move(folder.resolve("elsewhere"), Path.of(members()));

        busy.release.complete(null);
        for (CompletableFuture<String> each : slow) {
            assertThat(each.get()).isEqualTo("busy");
        }
    }

    /** A polling thread that runs handlers has one call in flight, however many requests there are. */
    @Test
    void shouldTellWhatWaitsForAPollingThread() {
        serve("a", busy);
        Numbers numbers = channel("c").stub(Numbers.class);
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
        return directory.endpoints(ChannelName.of(CHANNEL)).getFirst().load();
    }

    private double shareOfTheBusyOne(Numbers numbers) {
        int before = busy.calls.get();
        for (int i = 0; i < CALLS; i++) {
            numbers.who();
        }
        return (busy.calls.get() - before) / (double) CALLS;
    }
}
