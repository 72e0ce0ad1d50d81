package dev.rackcall.route;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.EvolutionTest;
import dev.rackcall.rpc.contract.Generation;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Versions of servers and channels that find each other by a directory. */
class RoutedEvolutionTest extends EvolutionTest {
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
        return super.place(channel)
                .directory(members())
                .host("host-a")
                .arenaQuota(4 << 20)
                .connectTimeout(RoutesFixture.PATIENCE);
    }

    /** A server on another host, which is reached over the network. */
    private RpcServer startOn(String host, Generation generation) {
        return serve(generation
                .serve(RpcServer.builder())
                .runtimeFolder(folder.resolve(host))
                .arenaQuota(4 << 20)
                .directory(members())
                .host(host)
                .listen(RoutesFixture.ANY_PORT));
    }

    /** Two servers are upgraded one after the other, and one is rolled back, while old and new clients call. */
    @Test
    void shouldUpgradeServersOneByOneWithoutAFailedCall() {
        RpcServer first = startOn("host-b", older());
        RpcServer second = startOn("host-c", older());
        Load load = Load.ofRepeatableCalls();
        load.start(older(), openChannel());
        load.start(newer(), openChannel());
        load.awaitMore();
        first.close();
        load.awaitMore();
        first = startOn("host-d", newer());
        load.awaitMore();
        second.close();
        load.awaitMore();
        startOn("host-e", newer());
        load.awaitMore();
        first.close();
        load.awaitMore();
        startOn("host-f", older());
        load.awaitMore();
        load.end();
    }
}
