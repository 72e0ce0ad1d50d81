package dev.rackcall.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rdma.queue.QueueHosts;
import dev.rackcall.shm.waiting.WaitStrategy;
import java.net.URI;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The contract of calls over virtual queues, on software devices. */
class QueueCallContractTest extends CallContractTest {
    private static final AtomicInteger PORTS = new AtomicInteger();
    private static final boolean LONG = Integer.getInteger("rackcall.kills", 0) > 0;
    private static QueueHosts hosts;

    private final URI address = URI.create("vq://" + QueueHosts.SERVER + ":" + PORTS.incrementAndGet());

    /** What dispatches and waits is the same as over RDMA, where all kinds of it are tested each time. */
    static List<Mode> modes() {
        return LONG
                ? CallContractTest.modes()
                : List.of(
                        new Mode(Dispatch.virtualThreads(), WaitStrategy.adaptive()),
                        new Mode(Dispatch.direct(), WaitStrategy.blocking()));
    }

    @BeforeAll
    static void open() {
        hosts = QueueHosts.open();
    }

    @AfterAll
    static void end() {
        Await.equal("exchanges that are open", 0, QueueHosts::openExchanges);
        hosts.close();
    }

    @Override
    RpcServer.Builder place(RpcServer.Builder server) {
        return super.place(server).listen(address);
    }

    @Override
    RpcChannel.Builder place(RpcChannel.Builder channel) {
        return super.place(channel).address(address).arenaQuota(8 << 20);
    }

    @Test
    @Override
    void shouldSayWhatIsWrongWithAChannelThatNobodyServes() {
        RpcException nobody = catchThrowableOfType(
                RpcException.class, () -> place(RpcChannel.builder("/no/such")).open());
        assertThat(nobody.code()).isEqualTo(Status.Code.UNAVAILABLE);
        assertThat(nobody).hasMessageContaining(address.toString());
    }
}
