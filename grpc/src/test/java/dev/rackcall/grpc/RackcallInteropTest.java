package dev.rackcall.grpc;

import io.grpc.ManagedChannelBuilder;
import io.grpc.ServerBuilder;
import io.grpc.testing.integration.AbstractInteropTest;
import org.junit.runner.RunWith;
import org.junit.runners.JUnit4;

/** All tests of grpc-java's interoperability suite; only the builders are Rackcall's. */
@RunWith(JUnit4.class)
public class RackcallInteropTest extends AbstractInteropTest {
    private static final String CHANNEL = "/test/interop";

    @Override
    protected ServerBuilder<?> getServerBuilder() {
        RackcallServerBuilder builder =
                RackcallServerBuilder.forChannel(CHANNEL).maxInboundMessageSize(MAX_MESSAGE_SIZE);
        // The suite records its own statistics.
        builder.setStatsEnabled(false);
        return builder.addStreamTracerFactory(createCustomCensusTracerFactory());
    }

    @Override
    protected ManagedChannelBuilder<?> createChannelBuilder() {
        RackcallChannelBuilder builder =
                RackcallChannelBuilder.forChannel(CHANNEL).maxInboundMessageSize(MAX_MESSAGE_SIZE);
        builder.setStatsEnabled(false);
        return builder.intercept(createCensusStatsClientInterceptor());
    }
}
