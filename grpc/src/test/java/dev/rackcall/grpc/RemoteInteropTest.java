package dev.rackcall.grpc;

import io.grpc.ForwardingServerBuilder;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Server;
import io.grpc.ServerBuilder;
import io.grpc.testing.integration.AbstractInteropTest;
import java.net.URI;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.runner.RunWith;
import org.junit.runners.JUnit4;

/** All tests of grpc-java's interoperability suite over the software device; only the builders are Rackcall's. */
@RunWith(JUnit4.class)
public class RemoteInteropTest extends AbstractInteropTest {
    private static final AtomicInteger TESTS = new AtomicInteger();

    private Server server;

    /** Keeps the server, whose port the client has to know. */
    private final class Kept extends ForwardingServerBuilder<Kept> {
        private final RackcallServerBuilder builder;

        Kept(RackcallServerBuilder builder) {
            this.builder = builder;
        }

        @Override
        protected ServerBuilder<?> delegate() {
            return builder;
        }

        @Override
        public Server build() {
            server = builder.build();
            return server;
        }
    }

    /** Where the server listens. */
    URI anyPort() {
        return URI.create("rdma://127.0.0.1:0");
    }

    @Override
    protected ServerBuilder<?> getServerBuilder() {
        RackcallServerBuilder builder = RackcallServerBuilder.forChannel("/test/remote-" + TESTS.incrementAndGet())
                .listen(anyPort())
                .maxInboundMessageSize(MAX_MESSAGE_SIZE);
        // The suite records its own statistics.
        builder.setStatsEnabled(false);
        builder.addStreamTracerFactory(createCustomCensusTracerFactory());
        return new Kept(builder);
    }

    @Override
    protected ManagedChannelBuilder<?> createChannelBuilder() {
        RackcallChannelBuilder builder = RackcallChannelBuilder.forAddress(
                        RemoteChannelTest.remote(server.getListenSockets()))
                .maxInboundMessageSize(MAX_MESSAGE_SIZE);
        builder.setStatsEnabled(false);
        return builder.intercept(createCensusStatsClientInterceptor());
    }

    /** Longer than a stall of the machine; the suite ends a test after 90 s. */
    @Override
    protected int operationTimeoutMillis() {
        return 60_000;
    }
}
