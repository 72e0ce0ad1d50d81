package dev.rackcall.rpc.contract;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The contract of calls between ends with separate memory, without a device. */
class MirroredCallContractTest extends CallContractTest {
    private static final AtomicInteger NAMES = new AtomicInteger();

    private final URI address = URI.create("copy://server-" + NAMES.incrementAndGet());

    @Override
    protected RpcServer.Builder place(RpcServer.Builder server) {
        return super.place(server).listen(address);
    }

    @Override
    protected RpcChannel.Builder place(RpcChannel.Builder channel) {
        return super.place(channel).address(address).arenaQuota(8 << 20);
    }

    @Test
    @Override
    protected void shouldReportAChannelWithoutServer() {
        assertFails(
                Status.Code.UNAVAILABLE,
                () -> place(RpcChannel.builder("/no/such")).open());
    }
}
