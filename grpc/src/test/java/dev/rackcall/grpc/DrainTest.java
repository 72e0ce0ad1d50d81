package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.rackcall.testkit.Await;
import io.grpc.CallOptions;
import io.grpc.ManagedChannel;
import io.grpc.Server;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Servers are replaced amid calls of all kinds: a successor starts, then the predecessor shuts down. No call fails,
 * although none waits for a server.
 */
class DrainTest {
    private static final String CHANNEL = "/test/drain";
    private static final int ROUNDS = 5;
    private static final int CALLS = 20;

    @TempDir
    private Path directory;

    private int servers;

    /** Starts a server beside the others. */
    private interface Starter {
        Server start(int number) throws IOException;
    }

    private static RackcallServerBuilder server(RackcallSocketAddress address) {
        return RackcallServerBuilder.forAddress(address).addService(new BytesService());
    }

    @Test
    void shouldLoseNoCallOverMemory() throws Exception {
        replaceServers(
                number -> server(address()).build().start(),
                RackcallChannelBuilder.forAddress(address()).build(),
                CallOptions.DEFAULT);
    }

    @Test
    void shouldLoseNoCallOfABalancedChannel() throws Exception {
        replaceServers(
                number -> server(address()).build().start(),
                RackcallChannelBuilder.forAddress(address())
                        .defaultLoadBalancingPolicy("round_robin")
                        .build(),
                CallOptions.DEFAULT);
    }

    /** A channel may learn of the successor only after the end of its server; its calls wait for that. */
    @Test
    void shouldLoseNoCallOverTheSoftwareDevice() throws Exception {
        URI names = directory.resolve("names").toUri();
        replaceServers(
                number -> server(RackcallSocketAddress.of(CHANNEL, directory.resolve("host-" + number)))
                        .listen(URI.create("rdma://127.0.0.1:0"))
                        .directory(names)
                        .build()
                        .start(),
                RackcallChannelBuilder.forDirectory(CHANNEL, names).build(),
                CallOptions.DEFAULT.withWaitForReady());
        // A server that ends does not wait long for the withdrawal of its entry, which writes into this folder.
        Await.deleted(Path.of(names));
    }

    private RackcallSocketAddress address() {
        return RackcallSocketAddress.of(CHANNEL, directory);
    }

    private void replaceServers(Starter starter, ManagedChannel channel, CallOptions options) throws Exception {
        Server serving = starter.start(servers++);
        try (Load load = new Load(channel, options)) {
            for (int i = 0; i < ROUNDS; i++) {
                load.awaitAnswers(CALLS);
                Server successor = starter.start(servers++);
                serving.shutdown();
                assertThat(serving.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
                serving = successor;
            }
            load.awaitAnswers(CALLS);
        } finally {
            channel.shutdownNow();
            serving.shutdownNow();
            assertThat(serving.awaitTermination(100, TimeUnit.SECONDS)).isTrue();
        }
    }
}
