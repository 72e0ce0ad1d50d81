package dev.rackcall.rack.guest;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcServer;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What guests call, without guests: through this host's memory, and over the software device. */
class YardCallsTest {
    private static final URI ANY_PORT = URI.create("rdma://127.0.0.1:0");

    @TempDir
    private Path directory;

    private final Guest guest = new Guest("C");

    @Test
    void shouldMakeAllCallsThroughMemory() {
        try (RpcServer server = YardCalls.server().runtimeFolder(directory).start();
                RpcChannel channel = RpcChannel.builder(server.channels().getFirst())
                        .runtimeFolder(directory)
                        .open()) {
            assertThat(YardCalls.of(guest, channel, channel.stub(Yard.class), true))
                    .contains("crates by pointer");
        }
    }

    @Test
    void shouldMakeAllCallsOverRdma() {
        try (RpcServer server = YardCalls.server()
                        .runtimeFolder(directory)
                        .listen(ANY_PORT)
                        .start();
                RpcChannel channel = RpcChannel.builder(CallsStep.CHANNEL)
                        .address(server.address().orElseThrow())
                        .arenaQuota(RemoteStep.ARENA_BYTES)
                        .open()) {
            assertThat(YardCalls.of(guest, channel, channel.stub(Yard.class), false))
                    .contains("crates by pointer");
        }
    }
}
