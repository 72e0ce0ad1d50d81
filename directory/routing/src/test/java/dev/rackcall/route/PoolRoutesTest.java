package dev.rackcall.route;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.Route;
import dev.rackcall.rpc.Route.Kind;
import dev.rackcall.rpc.Route.State;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.shm.pool.Pool;
import dev.rackcall.shm.pool.TwoHosts;
import dev.rackcall.testkit.Await;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/**
 * When the pool by which a channel reached its server is removed at either end, the channel stays open and its calls
 * continue over the network. Later they return to memory.
 */
class PoolRoutesTest extends RoutesFixture {
    private static final int CALLERS = 4;

    private final NumbersService service = new NumbersService("one");
    private final ExecutorService threads = keep(Executors.newCachedThreadPool());
    private final TwoHosts hosts = keep(TwoHosts.create());

    private RpcServer serve(Pool pool) {
        return keep(server("a", service).pool(pool).listen(ANY_PORT).start());
    }

    private RpcChannel channel(Pool pool) {
        return keep(channelOf("b", members())
                .pool(pool)
                .connectTimeout(Duration.ofSeconds(10))
                .open());
    }

    @Test
    void shouldGoOnOverTheNetworkWhenItsPoolIsClosed() {
        serve(hosts.first());
        Pool mine = hosts.host(1);
        RpcChannel channel = channel(mine);
        Numbers numbers = channel.stub(Numbers.class);
        awaitCalls(channel, numbers, Kind.POOL);

        mine.close();

        awaitCalls(channel, numbers, Kind.TCP);
        // A connection that ended a moment before its pool was known to be closed is tried again first.
        Await.until(
                "the pool to be given up",
                () -> byPool(channel, State.IMPOSSIBLE).isPresent());
        assertThat(byPool(channel).reason()).isEqualTo("the pool that this channel was given is closed");

        channel.usePool(hosts.second());
        awaitCalls(channel, numbers, Kind.POOL);
    }

    /**
     * Many concurrent calls, while the pool is removed and added again. Calls in flight when it is closed may fail,
     * with the right status.
     */
    @Test
    void shouldEndOnlyCallsUnderWayWhenItsPoolIsClosed() throws Exception {
        serve(hosts.first());
        Pool mine = hosts.host(1);
        RpcChannel channel = channel(mine);
        AtomicBoolean over = new AtomicBoolean();
        List<CompletableFuture<Integer>> callers = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            callers.add(CompletableFuture.supplyAsync(() -> call(channel, over, true), threads));
        }
        for (int i = 0; i < 3; i++) {
            Await.until("calls by the pool", () -> kinds(channel).equals(List.of(Kind.POOL)));
            mine.close();
            Await.until("calls over the network", () -> kinds(channel).equals(List.of(Kind.TCP)));
            mine = keep(hosts.host(1));
            channel.usePool(mine);
        }
        Await.until("calls by the pool", () -> kinds(channel).equals(List.of(Kind.POOL)));
        over.set(true);
        for (CompletableFuture<Integer> caller : callers) {
            assertThat(caller.get()).isPositive();
        }
    }

    @Test
    void shouldLoseNoCallWhenItLeavesItsPoolBeforeThatIsClosed() throws Exception {
        serve(hosts.first());
        Pool mine = hosts.host(1);
        RpcChannel channel = channel(mine);
        awaitCalls(channel, channel.stub(Numbers.class), Kind.POOL);
        long held = hosts.first().arena().usedBytes();
        AtomicBoolean over = new AtomicBoolean();
        List<CompletableFuture<Integer>> callers = new ArrayList<>();
        for (int i = 0; i < CALLERS; i++) {
            callers.add(CompletableFuture.supplyAsync(() -> call(channel, over, false), threads));
        }
        CompletableFuture<String> slow = channel.stub(Numbers.class).slow();

        channel.leavePool();
        // Checked all the time, since the thread that closes the pool waits for this state to end: it must also
        // hold while the route releases its subchannel.
        Await.until("calls over the network", () -> {
            for (int i = 0; i < 100; i++) {
                assertThat(byPool(channel, State.LEAVING)).as("look %d", i).isPresent();
            }
            return kinds(channel).equals(List.of(Kind.TCP));
        });
        assertThat(byPool(channel, State.LEAVING)).isPresent();
        service.release.complete(null);
        assertThat(slow.get()).isEqualTo("one");
        Await.until(
                "the pool's memory to be left",
                () -> byPool(channel, State.LEAVING).isEmpty());
        Await.until("the server to have it back", () -> hosts.first().arena().usedBytes() < held);
        mine.close();
        channel.usePool(hosts.second());
        awaitCalls(channel, channel.stub(Numbers.class), Kind.POOL);
        over.set(true);
        for (CompletableFuture<Integer> caller : callers) {
            assertThat(caller.get()).isPositive();
        }
    }

    /** The pool that was left need not be closed or reported: it no longer belongs to the channel. */
    @Test
    void shouldTakeAnotherPoolThanTheOneThatItHas() {
        serve(hosts.first());
        Pool mine = hosts.host(1);
        RpcChannel channel = channel(mine);
        channel.usePool(hosts.second());
        mine.close();
        awaitCalls(channel, channel.stub(Numbers.class), Kind.POOL);
    }

    @Test
    void shouldSayWhereAPoolCannotBeChanged() {
        serve(hosts.first());
        Pool mine = hosts.host(1);
        RpcChannel channel = channel(mine);
        Pool closed = hosts.host(1);
        closed.close();
        awaitCalls(channel, channel.stub(Numbers.class), Kind.POOL);
        assertThatThrownBy(() -> channel.usePool(closed)).hasMessageContainingAll("FAILED_PRECONDITION", "is closed");
        assertThat(channel.stub(Numbers.class).who()).isEqualTo("one");
        assertThat(kinds(channel)).containsExactly(Kind.POOL);

        RpcChannel plain = keep(RpcChannel.builder(CHANNEL).pool(mine).open());
        assertThatThrownBy(plain::leavePool).hasMessageContainingAll("FAILED_PRECONDITION", "without a directory");
        assertThat(plain.stub(Numbers.class).who()).isEqualTo("one");
        mine.close();
        Await.until("its end", () -> {
            try {
                return plain.stub(Numbers.class).who().isEmpty();
            } catch (RpcException e) {
                assertThat(e.code()).isEqualTo(Status.Code.UNAVAILABLE);
                return e.getMessage().contains("was closed");
            }
        });
    }

    /** Calls until the test ends; returns how many calls were answered. */
    private static int call(RpcChannel channel, AtomicBoolean over, boolean mayFail) {
        Numbers numbers = channel.stub(Numbers.class);
        int answered = 0;
        while (!over.get()) {
            try {
                assertThat(numbers.who()).isEqualTo("one");
                answered++;
            } catch (RpcException e) {
                assertThat(e.code()).isEqualTo(Status.Code.UNAVAILABLE);
                assertThat(mayFail).as(e.getMessage()).isTrue();
            }
        }
        return answered;
    }

    /**
     * Also needed for the first route of a channel: if the thread that answers at the pool gets no processor in its
     * share of the time, calls use the network.
     */
    private static void awaitCalls(RpcChannel channel, Numbers numbers, Kind kind) {
        Await.until(
                "calls by " + kind,
                () -> numbers.whoAgain().equals("one") && kinds(channel).equals(List.of(kind)));
    }

    private static Route byPool(RpcChannel channel) {
        return byPool(channel, State.IMPOSSIBLE).orElseThrow();
    }

    private static Optional<Route> byPool(RpcChannel channel, State state) {
        return channel.routes().stream()
                .filter(route -> route.kind() == Kind.POOL && route.state() == state)
                .findFirst();
    }

    /** A host whose mapping is gone is noticed by its silence, after 5 s. Then the network is tried. */
    @Test
    void shouldGoOnOverTheNetworkWhenTheServersPoolIsClosed() {
        Pool theirs = hosts.host(0);
        serve(theirs);
        RpcChannel channel = channel(hosts.second());
        Numbers numbers = channel.stub(Numbers.class);
        awaitCalls(channel, numbers, Kind.POOL);

        theirs.close();

        awaitCalls(channel, numbers, Kind.TCP);
    }
}
