package dev.rackcall.rdma;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.CallOptions;
import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.Isolation;
import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.RpcFixture;
import dev.rackcall.shm.Ref;
import dev.rackcall.shm.Scope;
import dev.rackcall.shm.types.SharedObject;
import dev.rackcall.testkit.Concurrently;
import java.lang.foreign.MemorySegment;
import java.net.URI;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A caller whose device writes to the server's memory while the handler reads its argument. It can: that memory is
 * registered for it.
 */
class RdmaTamperTest extends RpcFixture {
    private static final String HOST = "127.0.0.1";

    /**
     * The sum of the trees that a handler reads: 1 before, and 1 and 2 after the tamperer has made 2 a 20 where the
     * handler reads.
     */
    private long sumBesideATamperer(Isolation isolation) throws Exception {
        ForestService service = new ForestService();
        Faults device = keep(Faults.at(HOST, 1));
        RpcServer server = serve(serving(Forest.class, service)
                .dispatch(Dispatch.virtualThreads())
                .listen(URI.create("rdma://" + HOST + ":0")));
        RpcChannel channel = open(EchoServer.channelTo(Forest.class, server));
        Scope scope = channel.newScope();
        Forest.Tree first = ForestService.tree(scope, 1);
        Forest.Tree second = ForestService.tree(scope, 2);
        first.next(SharedObject.toRef(second));
        Forest forest = channel.stub(Forest.class, CallOptions.DEFAULT.withIsolation(isolation));
        CompletableFuture<Long> sum = Concurrently.start(() -> forest.walkTwice(first, 2));
        assertThat(service.walked.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
        second.number(20);
        second.text("tree 20");
        long from = Ref.offset(SharedObject.refOf(first));
        MemorySegment all = scope.arena().memory().asSlice(from, Ref.offset(scope.allocate(Long.BYTES)) - from);
        device.overwrite(all);
        service.goOn.release();
        return sum.join();
    }

    @ParameterizedTest
    @EnumSource(names = {"SNAPSHOT", "SEALED", "AUTO"})
    void shouldChangeNothingThatAnIsolatedCallHasPassed(Isolation isolation) throws Exception {
        assertThat(sumBesideATamperer(isolation)).isEqualTo(1 + 1 + 2);
    }

    /** Shows that the test above can fail. */
    @Test
    void shouldSucceedWhereTheCallIsTrusted() throws Exception {
        assertThat(sumBesideATamperer(Isolation.TRUSTED)).isEqualTo(1 + 1 + 20);
    }
}
