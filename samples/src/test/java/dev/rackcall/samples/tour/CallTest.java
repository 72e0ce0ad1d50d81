package dev.rackcall.samples.tour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.rpc.RpcChannel;
import dev.rackcall.rpc.RpcException;
import dev.rackcall.rpc.RpcServer;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How a service is tested: the guide shows this file. */
class CallTest {
    @TempDir
    private Path folder;

    private RpcServer server;
    private RpcChannel channel;

    @BeforeEach
    void start() {
        server = RpcServer.builder()
                .runtimeFolder(folder)
                .service(Call.class, new Call.Shelf())
                .start();
        channel = RpcChannel.builder("/samples/call").runtimeFolder(folder).open();
    }

    @AfterEach
    void stop() {
        channel.close();
        server.close();
    }

    @Test
    void shouldFindWhatIsThere() {
        Call shelf = channel.stub(Call.class);
        assertThat(shelf.find("tea").cents()).isEqualTo(350);
        assertThatThrownBy(() -> shelf.find("sugar")).isInstanceOf(RpcException.class);
    }
}
