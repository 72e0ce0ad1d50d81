package dev.rackcall.grpc;

import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerBuilder;
import io.grpc.testing.integration.AbstractInteropTest;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.runner.RunWith;
import org.junit.runners.JUnit4;

/** All tests of grpc-java's interoperability suite; only the builders are Rackcall's. */
@RunWith(JUnit4.class)
public class RackcallInteropTest extends AbstractInteropTest {
    private static final AtomicInteger TESTS = new AtomicInteger();

    /** A test that times out leaves its server behind, which is none of the next one's. */
    private final String name = "/test/interop-" + TESTS.incrementAndGet();

    @Override
    protected ServerBuilder<?> getServerBuilder() {
        RackcallServerBuilder builder = RackcallServerBuilder.forChannel(name).maxInboundMessageSize(MAX_MESSAGE_SIZE);
        // The suite records its own statistics.
        builder.setStatsEnabled(false);
        return builder.addStreamTracerFactory(createCustomCensusTracerFactory());
    }

    @Override
    protected ManagedChannelBuilder<?> createChannelBuilder() {
        RackcallChannelBuilder builder =
                RackcallChannelBuilder.forChannel(name).maxInboundMessageSize(MAX_MESSAGE_SIZE);
        builder.setStatsEnabled(false);
        return builder.intercept(createCensusStatsClientInterceptor());
    }

    /** Longer than a stall of the machine; the suite ends a test after 90 s. */
    @Override
    protected int operationTimeoutMillis() {
        return 60_000;
    }
}
