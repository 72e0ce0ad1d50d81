package dev.rackcall.grpc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.rackcall.testkit.Await;
import dev.rackcall.testkit.FreePort;
import io.grpc.Attributes;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.internal.ServerListener;
import io.grpc.internal.ServerStream;
import io.grpc.internal.ServerTransport;
import io.grpc.internal.ServerTransportListener;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.AbstractList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A server that fails to start while clients are connecting. */
class FailedStartTest {
    private static final String CHANNEL = "/test/failed";

    @TempDir
    private Path directory;

    private final CountDownLatch arrived = new CountDownLatch(1);
    private final CountDownLatch terminated = new CountDownLatch(1);
    /** As gRPC's server, which holds a lock while it starts, and takes it for each client. */
    private final Object lock = new Object();

    private final class Listening implements ServerListener, ServerTransportListener {
        @Override
        public ServerTransportListener transportCreated(ServerTransport transport) {
            arrived.countDown();
            synchronized (lock) {
                return this;
            }
        }

        @Override
        public void serverShutdown() {}

        @Override
        public void streamCreated(ServerStream stream, String method, Metadata headers) {}

        @Override
        public Attributes transportReady(Attributes attributes) {
            return attributes;
        }

        @Override
        public void transportTerminated() {
            terminated.countDown();
        }
    }

    @Test
    void shouldFailWhileClientsAreConnecting() throws Exception {
        URI good = URI.create("rdma://127.0.0.1:" + FreePort.find());
        ManagedChannel near = RackcallChannelBuilder.forAddress(RackcallSocketAddress.of(CHANNEL, directory))
                .build();
        ManagedChannel far = RackcallChannelBuilder.forAddress(RackcallSocketAddress.of(CHANNEL, good))
                .build();
        List<URI> listens = new AbstractList<>() {
            @Override
            public URI get(int index) {
                if (index == 0) {
                    near.getState(true);
                    return good;
                }
                far.getState(true);
                Await.latch(arrived);
                return URI.create("carrier-pigeon://loft:1");
            }

            @Override
            public int size() {
                return 2;
            }
        };
        RackcallServer server = new RackcallServer(
                RackcallSocketAddress.of(CHANNEL, directory),
                listens,
                false,
                Optional.empty(),
                ConnectionLimits.NONE,
                1000,
                1000,
                List.of());
        try {
            synchronized (lock) {
                assertThatThrownBy(() -> server.start(new Listening()))
                        .isInstanceOf(IOException.class)
                        .hasMessageContaining("carrier-pigeon");
            }
            Await.latch(terminated);
            assertThat(directory).doesNotExist();
        } finally {
            near.shutdownNow();
            far.shutdownNow();
        }
    }
}
