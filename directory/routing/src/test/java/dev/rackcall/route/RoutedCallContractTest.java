package dev.rackcall.route;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.Status;
import dev.rackcall.rpc.contract.CallContractTest;
import dev.rackcall.testkit.Await;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The contract of calls, of servers and channels that find each other by a directory. */
class RoutedCallContractTest extends CallContractTest {
    @TempDir
    private Path folder;

    private URI members() {
        return folder.resolve("members").toUri();
    }

    @Override
    protected RpcServer.Builder place(RpcServer.Builder server) {
        return super.place(server).directory(members()).host("host-a");
    }

    @Override
    protected RpcChannel.Builder place(RpcChannel.Builder channel) {
        return super.place(channel).directory(members()).host("host-a");
    }

    @Override
    protected String whereToLook() {
        return "members";
    }

    /** A call waits for news of the directory for a moment only. */
    @Override
    protected void awaitNextServer(RpcChannel channel) {
        Await.equal("the channel's state", RpcChannel.State.READY, channel::state);
    }

    @Test
    @Override
    protected void shouldReportAChannelWithoutServer() {
        RpcException nobody = catchThrowableOfType(
                RpcException.class, () -> place(RpcChannel.builder("/no/such")).open());
        assertThat(nobody.code()).isEqualTo(Status.Code.NOT_FOUND);
        assertThat(nobody)
                .hasMessageContaining("/no/such")
                .hasMessageContaining(members().toString());
    }
}
