package dev.rackcall.rdma;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedBytes;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.Concurrently;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Large arguments that stay with their caller: the server fetches what its handler reads. */
class RdmaFetchTest extends RpcFixture {
    private static final int NODES = 100_000;
    /** For walks through all nodes, which fetch some thousand pages one after the other. */
    private static final Duration PATIENT = Duration.ofSeconds(100);

    private static final long SEED = 4711;
    private static final String HOST = "127.0.0.9";

    private final ForestService service = new ForestService();
    private final Faults faults = keep(Faults.at(HOST, SEED));
    private RpcChannel channel;
    private Forest forest;
    private Scope scope;
    private final List<Forest.Tree> way = new ArrayList<>();

    @BeforeEach
    void grow() {
        RpcServer server = serve(serving(Forest.class, service)
                .dispatch(Dispatch.virtualThreads())
                .arenaQuota(32 << 20)
                .listen(URI.create("rdma://" + HOST + ":0")));
        channel = open(EchoServer.channelTo(Forest.class, server).arenaQuota(32 << 20));
        forest = channel.stub(Forest.class, within(PATIENT));
    }

    /** A chain of this many nodes in random order. */
    private Forest.Tree plant(int nodes) {
        scope = channel.newScope(1 << 20);
        List<Forest.Tree> trees = new ArrayList<>();
        for (int i = 0; i < nodes; i++) {
            trees.add(ForestService.tree(scope, i));
        }
        Collections.shuffle(trees, new Random(SEED));
        for (int i = 0; i + 1 < nodes; i++) {
            trees.get(i).next(SharedObject.toRef(trees.get(i + 1)));
        }
        way.addAll(trees);
        return trees.getFirst();
    }

    /** Returns when the handler has begun. */
    private CompletableFuture<Long> walkTwice(Forest stub, Forest.Tree first, int nodes) throws InterruptedException {
        CompletableFuture<Long> call = Concurrently.start(() -> stub.walkTwice(first, nodes));
        assertThat(service.walked.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        return call;
    }

    private long sum(int nodes) {
        return way.subList(0, nodes).stream().mapToLong(Forest.Tree::number).sum();
    }

    /** Required: 10 nodes of a graph of 100,000 move at most 64 KiB. */
    @Test
    void shouldMoveOnlyThePagesThatTheHandlerTouches() {
        Forest.Tree first = plant(NODES);
        long before = faults.moved();
        assertThat(forest.walk(first, 10)).isEqualTo(sum(10));
        assertThat(faults.moved() - before).isBetween(10 * 64L, 64L << 10);
        assertThat(forest.walk(first, NODES)).isEqualTo(sum(NODES));
    }

    @Test
    void shouldSeeInEachCallWhatTheCallerHasWrittenBeforeIt() {
        Forest.Tree first = plant(NODES);
        for (int i = 0; i < 50; i++) {
            Forest.Tree third = way.get(2);
            third.number(1_000_000 + i);
            third.text("tree " + (1_000_000 + i));
            assertThat(forest.walk(first, 5)).isEqualTo(sum(5));
        }
    }

    @Test
    void shouldNotFollowARefIntoAScopeThatTheCallerHasClosed() {
        Forest.Tree first = plant(NODES);
        Scope closed = channel.newScope();
        way.get(4).next(SharedObject.toRef(ForestService.tree(closed, 7)));
        assertThat(forest.walk(first, 6)).isEqualTo(sum(5) + 7);
        closed.close();
        assertFails(Status.Code.INVALID_ARGUMENT, () -> forest.walk(first, 6)).hasMessageContaining("closed or reset");
        assertThat(forest.walk(first, 5)).isEqualTo(sum(5));
    }

    @Test
    void shouldFollowARefIntoMemoryThatTheCallerTookAfterTheCallWasSent() throws Exception {
        Forest.Tree first = plant(NODES);
        CompletableFuture<Long> call = walkTwice(forest, first, 6);
        try (Scope stale = channel.newScope()) {
            stale.create(Forest.Tree.class);
        }
        // The same memory, of another generation than the server was told with the call.
        try (Scope later = channel.newScope()) {
            // On a page that the handler has not seen yet.
            way.get(4).next(SharedObject.toRef(ForestService.tree(later, 7)));
            service.goOn.release();
            assertThat(call.join()).isEqualTo(first.number() + sum(5) + 7);
            assertThat(forest.walk(first, 6)).isEqualTo(sum(5) + 7);
        }
    }

    /** An isolated call passes what was there when it was sent, so all of it travels. */
    @Test
    void shouldPushWhatAnIsolatedCallPasses() throws Exception {
        Forest.Tree first = plant(NODES);
        long before = faults.moved();
        Forest isolated = channel.stub(Forest.class, CallOptions.DEFAULT.withIsolation(Isolation.SNAPSHOT));
        long then = sum(10);
        CompletableFuture<Long> call = walkTwice(isolated, first, 10);
        long number = first.number();
        way.get(4).number(99);
        service.goOn.release();
        assertThat(call.join()).isEqualTo(number + then);
        assertThat(faults.moved() - before).isGreaterThan(4 << 20);
        // Pushed and fetched pages lie in different places and do not overwrite each other.
        way.get(4).text("tree 99");
        assertThat(forest.walk(first, 10)).isEqualTo(sum(10));
        assertThat(isolated.walk(first, 10)).isEqualTo(sum(10));
    }

    @Test
    void shouldFetchObjectsOfManyPagesAndReturnThem() {
        Forest.Tree first = plant(2);
        byte[] leaves = new byte[5 << 20];
        new Random(SEED).nextBytes(leaves);
        long wanted = 0;
        for (byte leaf : leaves) {
            wanted += leaf;
        }
        SharedBytes shared = SharedBytes.copyOf(scope, leaves);
        first.leaves(shared);
        assertThat(forest.rake(first)).isEqualTo(wanted);
        assertThat(SharedObject.refOf(forest.back(first))).isEqualTo(SharedObject.refOf(first));
    }

    /** @param noticed whether the server has noticed it, and ended its connection, before the handler goes on */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldEndACallWhoseCallerIsGone(boolean noticed) throws Exception {
        Forest.Tree first = plant(NODES);
        CompletableFuture<Long> call = walkTwice(forest, first, NODES);
        faults.failQueuePairs();
        if (noticed) {
            Await.until("the end of the connection", () -> service.context.isCancelled());
        }
        service.goOn.release();
        assertThatThrownBy(call::join).hasMessageContaining("UNAVAILABLE");
        assertThat(service.walked.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        assertThat(service.failure).isEqualTo(Status.Code.UNAVAILABLE);
    }

    @Test
    void shouldWaitNoLongerThanTheCallersDeadline() {
        Forest.Tree first = plant(NODES);
        Forest hurried = channel.stub(Forest.class, within(Duration.ofSeconds(2)));
        // A network that delivers nothing in time.
        faults.slow(Duration.ofSeconds(5));
        assertThatThrownBy(() -> hurried.walk(first, NODES)).hasMessageContaining("DEADLINE_EXCEEDED");
    }
}
