package dev.rackcall.rpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rdma.FreePort;
import java.net.URI;
import org.junit.jupiter.api.Test;

/** The contract of calls over RDMA: over the software device, or a real one that has the address of this host in {@code rackcall.rdma.host}. */
class RdmaCallContractTest extends CallContractTest {
    private final URI address = address();

    /** One that nobody has. */
    static URI address() {
        return URI.create("rdma://" + System.getProperty("rackcall.rdma.host", "127.0.0.1") + ":" + FreePort.find());
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
