package dev.rackcall.rdma;

import dev.rackcall.rpc.Dispatch;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.chaos.ChaosStorms;
import java.net.URI;
import java.util.stream.Stream;

/** Storms of calls over the software device. */
class RdmaChaosTest extends ChaosStorms {
    /** One by default, which already takes some seconds. */
    public static Stream<Dispatch> dispatches() {
        return ROUNDS > 1 ? ChaosStorms.dispatches() : Stream.of(Dispatch.direct());
    }

    @Override
    protected RpcServer.Builder place(RpcServer.Builder server) {
        return super.place(server).listen(URI.create("rdma://127.0.0.1:0"));
    }

    @Override
    protected String address(RpcServer server) {
        return server.address().orElseThrow().toString();
    }
}
