package dev.rackcall.route;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import dev.rackcall.rpc.contract.SharedCallTest;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** Shared objects over channels that were found by a directory. */
class RoutedSharedCallTest extends SharedCallTest {
    @TempDir
    private Path folder;

    private URI members() {
        return folder.resolve("members").toUri();
    }

    @Override
    protected RpcServer.Builder place(RpcServer.Builder server) {
        return super.place(server).directory(members());
    }

    @Override
    protected RpcChannel.Builder place(RpcChannel.Builder channel) {
        return super.place(channel).directory(members());
    }
}
