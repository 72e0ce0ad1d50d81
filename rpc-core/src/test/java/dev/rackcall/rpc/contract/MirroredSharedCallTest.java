package dev.rackcall.rpc.contract;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;

/** Shared objects by pointer between ends with separate memory, without a device. */
class MirroredSharedCallTest extends SharedArenaCallTest {
    private static final AtomicInteger NAMES = new AtomicInteger();

    private final URI address = URI.create("copy://shared-" + NAMES.incrementAndGet());

    @Override
    protected RpcServer.Builder place(RpcServer.Builder server) {
        return super.place(server).listen(address);
    }

    @Override
    protected RpcChannel.Builder place(RpcChannel.Builder channel) {
        return super.place(channel).address(address).arenaQuota(8 << 20);
    }
}
