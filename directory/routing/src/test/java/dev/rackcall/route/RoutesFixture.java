package dev.rackcall.route;

import dev.rackcall.directory.ChannelName;
import dev.rackcall.directory.Directory;
import dev.rackcall.directory.Endpoint;
import dev.rackcall.rpc.DeadlineClock;
import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Route.Kind;
import dev.rackcall.rpc.Route.State;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.spi.ClientSpec;
import dev.rackcall.shm.waiting.WaitStrategy;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.ChildJvm;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Servers and channels that find each other by a directory, closed after each test. A host is a runtime folder of its
 * own.
 */
@Timeout(180)
abstract class RoutesFixture {
    static final URI ANY_PORT = URI.create("rdma://127.0.0.1:0");
    static final String CHANNEL = "/test/numbers";
    /** The best route gets a share of this time, and must be used on a busy machine, too. */
    static final Duration PATIENCE = Duration.ofSeconds(20);

    @TempDir
    Path folder;

    private final List<AutoCloseable> open = new ArrayList<>();

    @AfterEach
    void closeAll() throws Exception {
        for (AutoCloseable each : open.reversed()) {
            each.close();
        }
    }

    final <T extends AutoCloseable> T keep(T item) {
        open.add(item);
        return item;
    }

    URI members() {
        return folder.resolve("members").toUri();
    }

    final Path host(String name) {
        return folder.resolve(name);
    }

    final RpcServer.Builder server(String host, NumbersService service) {
        return RpcServer.builder()
                .service(Numbers.class, service)
                .runtimeFolder(host(host))
                .arenaQuota(4 << 20)
                .directory(members())
                .host(host);
    }

    /** Starts a server that is also reached over the network. */
    final RpcServer serve(String host, NumbersService service) {
        return keep(server(host, service).listen(ANY_PORT).start());
    }

    final RpcChannel.Builder channelOf(String host, URI directory) {
        return RpcChannel.builder(CHANNEL)
                .runtimeFolder(host(host))
                .arenaQuota(4 << 20)
                .connectTimeout(PATIENCE)
                .directory(directory)
                .host(host);
    }

    final RpcChannel channel(String host) {
        return keep(channelOf(host, members()).open());
    }

    /** What such a channel requires, for tests of what lies below it. */
    static ClientSpec spec(Path runtime) {
        return new ClientSpec(
                CHANNEL,
                ClientSpec.Place.here(runtime),
                WaitStrategy.adaptive(),
                new ClientSpec.Capacity(8, 4 << 20),
                new ClientSpec.Timeouts(PATIENCE, PATIENCE, DeadlineClock.SYSTEM),
                ClientSpec.Sealing.DEFAULT);
    }

    /**
     * A server named {@code name} in its own process. With the address of a meta server, it also listens for virtual
     * queues.
     */
    final ChildJvm child(String host, String name, String... meta) throws InterruptedException {
        List<String> arguments = new ArrayList<>(List.of(members().toString(), name));
        arguments.addAll(List.of(meta));
        ChildJvm child = keep(ChildJvm.start(NumbersChild.class, host(host), arguments.toArray()));
        child.awaitLine("READY");
        return child;
    }

    /** The directory's entry of the only server. */
    final Endpoint named() {
        try (Directory directory = Directory.open(members())) {
            return directory.endpoints(ChannelName.of(CHANNEL)).getFirst();
        }
    }

    /** A directory in which the test names endpoints itself. */
    final Directory byHand() {
        return keep(Directory.open(byHandAddress()));
    }

    final URI byHandAddress() {
        return folder.resolve("by-hand").toUri();
    }

    static List<Route> used(RpcChannel channel) {
        return channel.routes().stream()
                .filter(route -> route.state() == State.USED)
                .toList();
    }

    static List<Kind> kinds(RpcChannel channel) {
        return used(channel).stream().map(Route::kind).toList();
    }

    static Route route(RpcChannel channel, Kind kind) {
        return channel.routes().stream()
                .filter(route -> route.kind() == kind)
                .findFirst()
                .orElseThrow();
    }

    /** Whether that server answers; a call may fail, but with UNAVAILABLE only. */
    static boolean isAnswered(Numbers numbers, String by) {
        try {
            return numbers.who().equals(by);
        } catch (RpcException e) {
            Assertions.assertThat(e.code()).isEqualTo(Status.Code.UNAVAILABLE);
            return false;
        }
    }

    /** Waits until server "one" answers over that kind of route alone. */
    static void awaitCalls(RpcChannel channel, Kind kind) {
        Numbers numbers = channel.stub(Numbers.class);
        Await.until(
                "calls over " + kind,
                () -> isAnswered(numbers, "one") && kinds(channel).equals(List.of(kind)));
    }
}
